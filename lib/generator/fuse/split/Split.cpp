// SPDX-License-Identifier: Apache-2.0
// Reductions in parts, see Split.h.
#include "lib/generator/fuse/split/Split.h"

#include "lib/generator/emit/DataReads.h"
#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/fuse/Frontier.h"
#include "lib/generator/fuse/split/Distances.h"
#include "lib/generator/fuse/split/Parts.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Monoids.h"
#include "lib/generator/program/Replace.h"
#include "lib/generator/template/Map.h"
#include "lib/generator/template/access/Contiguity.h"

#include <algorithm>

namespace nereid::generator {
namespace {

class Splitter {
public:
  Splitter(Program &program, std::vector<Store> stores, int64_t parts)
      : program(program), stores(std::move(stores)), parts(parts),
        order(orderOf(program, this->stores)) {}

  std::optional<Split> run() {
    const std::vector<const Node *> all = reductionsOf(rootsOf(stores));
    if (all.empty() || std::any_of(all.begin(), all.end(), isStuck)) {
      return std::nullopt;
    }
    bound = all[0]->iterators;
    const bool isOfAll = contractionOf(*all[0]).has_value();
    lines.assign(bound.begin(), isOfAll ? bound.end() : bound.begin() + 1);
    extent = extentOf({"", "", lines}, program);
    length = lengthOfPart(program, extent, parts, lines.size() == bound.size());
    for (std::vector<const Node *> left = all; !left.empty();
         left = reductionsOf(rootsOf(stores))) {
      splitLevel(left);
    }
    if (!stores.empty()) {
      made.stages.push_back(stores);
    }
    return std::move(made);
  }

private:
  /// Conditions around the reduction may be what keeps its indices inside.
  static bool isStuck(const Node *reduction) {
    const std::vector<const Node *> inside = reachable(reduction->inputs);
    return std::any_of(inside.begin(), inside.end(),
                       [](const Node *node) { return readsAtData(*node); });
  }

  /// Those of `left` that need no other, and distances from what these say.
  void splitLevel(const std::vector<const Node *> &left) {
    std::vector<const Node *> level = left;
    std::erase_if(level, [](const Node *node) { return !reductionsOf(node->inputs).empty(); });
    const IteratorId part = program.space.iterators.add(parts, "part");
    const IteratorId within = program.space.iterators.add(length, "within");
    std::vector<Store> partial;
    std::map<const Node *, const Node *> joined;
    for (const Node *each : level) {
      joined[each] = join(*each, partsOf(*each, part, within, partial));
    }
    addDistances(left, part, within, partial, joined);
    for (const auto &[node, whole] : joined) {
      program.nodes.passWord(node, whole);
    }
    addStages(partial);
    if (joined.size() == left.size()) {
      std::vector<Store> last = replaced(joined);
      if (joinsWhereNeeded(last)) {
        made.stages.push_back(std::move(last));
        stores.clear();
        return;
      }
    }
    stores = replaced(saved(joined));
  }

  /// Whether the last ones are joined where they are needed: unless that runs along the line again
  /// in another way than by a kernel whose programs join them for their rows, of which they have
  /// long pieces.
  bool joinsWhereNeeded(const std::vector<Store> &last) const {
    if (!program.iteratorsOf(last[0]).contains(lines[0])) {
      return true;
    }
    const std::vector<IteratorId> along = firstTile(program, last).back().iterators;
    return joinedParts(program, last) &&
           std::set(along.begin(), along.end()) == std::set(bound.begin(), bound.end());
  }

  /// Parts of the sums of distances (Distances.h) whose centre needs what is joined already alone.
  void addDistances(const std::vector<const Node *> &left, IteratorId part, IteratorId within,
                    std::vector<Store> &partial, std::map<const Node *, const Node *> &joined) {
    std::map<const Node *, const Node *> done = joined;
    for (const Node *each : left) {
      const std::optional<Distances> found =
          joined.contains(each) ? std::nullopt : distancesOf(*each);
      const std::vector<const Node *> needed =
          found ? reductionsOf({found->centre}) : std::vector<const Node *>();
      const bool isNear = std::all_of(needed.begin(), needed.end(),
                                      [&](const Node *one) { return joined.contains(one); });
      if (!found || !isNear) {
        continue;
      }
      const Affine place = placeOf(part, within);
      const PartOfLine line{iteratorsOfPart(*each, within), isBelow(program, place, extent),
                            countOfPart(*each, part)};
      const Node *value =
          selectedInside(program, line.inside,
                         program.nodes.substitute(found->value, places(place), program.space), 0);
      std::vector<const Node *> read;
      for (const Node *component : distancesOfPart(program, line, value)) {
        read.push_back(program.nodes.make(store(component, each->free, part, partial)));
      }
      auto build = [&](NodeParts nodeParts) { return program.nodes.make(std::move(nodeParts)); };
      const Node *centre = program.nodes.rebuild(found->centre, program.space, build, done);
      joined[each] = joinedDistances(program, part, read, line.count, centre);
    }
  }

  Affine placeOf(IteratorId part, IteratorId within) const {
    return Affine::iterator(part) * length + Affine::iterator(within);
  }

  /// Those of the node, with `within` in place of the line.
  std::vector<IteratorId> iteratorsOfPart(const Node &node, IteratorId within) const {
    std::vector<IteratorId> result = {within};
    std::copy_if(node.iterators.begin(), node.iterators.end(), std::back_inserter(result),
                 [&](IteratorId each) {
                   return std::find(lines.begin(), lines.end(), each) == lines.end();
                 });
    return result;
  }

  /// What the node's reduction has of a part: fewer of the last one, and none behind the line's
  /// end.
  const Node *countOfPart(const Node &node, IteratorId part) {
    const Affine behind = Affine(extent) - Affine::iterator(part) * length;
    const Node *own = program.nodes.map(
        "minimum", DType::I64, {program.nodes.index(behind), program.nodes.index(Affine(length))});
    own = program.nodes.map("maximum", DType::I64, {own, program.nodes.integer(0, DType::I64)});
    Polynomial beside = 1;
    for (IteratorId each : node.iterators) {
      const bool isLine = std::find(lines.begin(), lines.end(), each) != lines.end();
      beside = isLine ? beside : beside * program.space.iterators[each].extent;
    }
    return beside.constant() == 1
               ? own
               : program.nodes.map("mul", DType::I64, {own, program.nodes.index(Affine(beside))});
  }

  /// Where the lines are at a place of all of them together, the last one innermost.
  IndexMap places(const Affine &place) const {
    IndexMap result;
    Affine rest = place;
    for (size_t i = lines.size(); i-- > 1;) {
      const Polynomial &own = program.space.iterators[lines[i]].extent;
      result[lines[i]] = remainder(rest, own, program.space);
      rest = floorDivide(rest, own, program.space);
    }
    result[lines[0]] = rest;
    return result;
  }

  /// Stores the components of each part; what reads them at `part`.
  std::vector<NodeParts> partsOf(const Node &node, IteratorId part, IteratorId within,
                                 std::vector<Store> &partial) {
    const Affine place = placeOf(part, within);
    const Node *inside = isBelow(program, place, extent);
    NodeParts reduced = node;
    reduced.iterators = iteratorsOfPart(node, within);
    const IndexMap to = places(place);
    const bool isProduct = contractionOf(node).has_value();
    for (size_t i = 0; i < reduced.inputs.size(); ++i) {
      const Node *moved = program.nodes.substitute(reduced.inputs[i], to, program.space);
      reduced.inputs[i] =
          isProduct ? productInside(*moved, inside)
                    : selectedInside(program, inside, moved, findMonoid(node.name)->identity[i]);
    }
    const Node *value = program.nodes.make(std::move(reduced));
    std::vector<NodeParts> refs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Node *component = node.inputs.size() > 1 ? program.nodes.pick(value, i) : value;
      refs.push_back(store(component, node.free, part, partial));
    }
    return refs;
  }

  /// The value of each part in memory, over `free` besides; how it is read.
  NodeParts store(const Node *value, const std::set<IteratorId> &free,
                  std::optional<IteratorId> part, std::vector<Store> &stage) {
    NodeParts ref = memoryFor(value->dtype, free, part);
    stage.push_back({ref.buffer, ref.indices, value, "", nullptr});
    return ref;
  }

  /// The node over all its parts.
  const Node *join(const Node &node, const std::vector<NodeParts> &refs) {
    NodeParts result{NodeKind::Reduce, node.dtype};
    result.name = node.name;
    result.iterators = {refs[0].indices[0].asIterator().value()};
    for (const NodeParts &ref : refs) {
      result.inputs.push_back(program.nodes.make(ref));
    }
    return program.nodes.make(std::move(result));
  }

  /// The values in memory, which a stage of its own writes.
  std::map<const Node *, const Node *> saved(const std::map<const Node *, const Node *> &joined) {
    std::vector<Store> stage;
    std::map<const Node *, const Node *> result;
    auto save = [&](const Node *original, const Node *value) {
      result[original] = program.nodes.make(store(value, original->free, {}, stage));
      program.nodes.passWord(original, result[original]);
    };
    std::set<const Node *> originals;
    for (const auto &[original, whole] : joined) {
      originals.insert(original);
    }
    for (const Node *node : frontier(rootsOf(stores), originals)) {
      if (auto own = joined.find(node); own != joined.end()) {
        save(node, own->second);
      } else {
        NodeParts pick = *node;
        pick.inputs = {joined.at(node->inputs[0])};
        save(node, program.nodes.make(std::move(pick)));
      }
    }
    addStages(stage);
    return result;
  }

  /// One kernel has stores over the same iterators.
  void addStages(const std::vector<Store> &all) {
    for (std::vector<Store> &group : groupsOf(program, {"", all})) {
      made.stages.push_back(std::move(group));
    }
  }

  /// A temporary over these iterators, those of the stores in their order, and how it is read.
  NodeParts memoryFor(DType dtype, const std::set<IteratorId> &free,
                      std::optional<IteratorId> part) {
    std::vector<IteratorId> iterators;
    if (part) {
      iterators.push_back(*part);
    }
    for (IteratorId iterator : order) {
      if (free.contains(iterator)) {
        iterators.push_back(iterator);
      }
    }
    return partMemory(program, made, dtype, iterators);
  }

  /// Both factors are 0 outside.
  const Node *productInside(const Node &product, const Node *inside) {
    std::vector<const Node *> factors;
    for (const Node *factor : product.inputs) {
      factors.push_back(selectedInside(program, inside, factor, 0));
    }
    return program.nodes.map(product.name, product.dtype, std::move(factors));
  }

  /// The stores with these values in place of those.
  std::vector<Store> replaced(std::map<const Node *, const Node *> done) {
    std::vector<Store> result = stores;
    replaceIn(result, program, std::move(done));
    return result;
  }

  Program &program;
  std::vector<Store> stores;
  const int64_t parts;
  const std::vector<IteratorId> order;
  std::vector<IteratorId> bound, lines; ///< by reductions; of these, that are divided, as one
  Polynomial extent, length;            ///< of the latter, of a part
  Split made;
};

} // namespace

std::optional<Split> splitReductions(Program &program, const std::vector<Store> &stores,
                                     int64_t parts) {
  return Splitter(program, stores, parts).run();
}

} // namespace nereid::generator
