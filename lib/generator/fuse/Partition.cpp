// SPDX-License-Identifier: Apache-2.0
// The cuts, see Partition.h.
#include "lib/generator/fuse/Partition.h"

#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/fuse/CutReason.h"
#include "lib/generator/fuse/Frontier.h"
#include "lib/generator/fuse/Renaming.h"
#include "lib/generator/fuse/SharedFactors.h"
#include "lib/generator/fuse/saved/Epilogues.h"
#include "lib/generator/fuse/saved/LeftValues.h"
#include "lib/generator/fuse/saved/OpenReads.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Replace.h"
#include "lib/generator/template/StageKernel.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using IteratorSet = std::set<IteratorId>;

IteratorSet boundBy(const Node &node) { return {node.iterators.begin(), node.iterators.end()}; }

bool contains(const IteratorSet &all, const IteratorSet &some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}
bool areApart(const IteratorSet &a, const IteratorSet &b) {
  return std::none_of(a.begin(), a.end(), [&](IteratorId each) { return b.contains(each); });
}
IteratorSet without(IteratorSet all, const IteratorSet &some) {
  for (IteratorId each : some) {
    all.erase(each);
  }
  return all;
}

/// A stage that scans or sorts.
bool hasLine(const std::vector<Store> &group) {
  const std::vector<const Node *> nodes = reachable(rootsOf(group));
  return std::any_of(nodes.begin(), nodes.end(), [](const Node *node) {
    return node->kind == NodeKind::Scan || node->kind == NodeKind::Order;
  });
}

/// Whether a product is added to something: a kernel may round the product before, or not.
bool addsProducts(const Node *value) {
  const std::vector<const Node *> nodes = reachable({value});
  auto has = [&](std::string_view name) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node *node) {
      return node->kind == NodeKind::Map && node->name == name;
    });
  };
  return has("mul") && (has("add") || has("sub"));
}

class Partitioner {
public:
  Partitioner(Program &program, const std::set<BufferId> &apart)
      : program(program), apart(apart), ownBuffers(program.buffers.size()) {}

  void run() {
    for (size_t stage = 0; stage < program.stages.size();) {
      align(stage);
      keepCompared(stage);
      keepShared(stage);
      stage += cutOne(stage) ? 0 : 1; // what has been cut off stands there now
    }
    for (const Stage &stage : program.stages) {
      for (const std::vector<Store> &group : groupsOf(program, stage)) {
        noteCuts(group);
      }
    }
  }

  std::map<BufferId, std::string> reasons; ///< of the temporaries that it has added

private:
  // ---- one iterator where there were two ----

  bool haveEqualExtents(const std::vector<IteratorId> &a, const std::vector<IteratorId> &b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](IteratorId x, IteratorId y) {
      return program.space.iterators[x].extent == program.space.iterators[y].extent;
    });
  }

  /// The iterators that a reduction could run over as well: those of other reductions and, where
  /// the stage has them besides the reduction's own, the stage's.
  std::vector<std::vector<IteratorId>> candidates(const Node &node, const IteratorSet &stage,
                                                  const std::vector<const Node *> &all) const {
    std::vector<std::vector<IteratorId>> result;
    const IteratorSet rest = without(stage, node.free);
    if (!node.free.empty() && !rest.empty() && contains(stage, node.free)) {
      result.emplace_back(rest.begin(), rest.end());
    }
    for (const Node *other : all) {
      if (other->iterators < node.iterators) { // towards the smaller ones, so that there is an end
        result.push_back(other->iterators);
      }
    }
    return result;
  }

  void align(size_t stage) {
    while (alignOne(program.stages[stage])) {
    }
  }

  bool alignOne(Stage &stage) {
    for (const std::vector<Store> &group : groupsOf(program, stage)) {
      const IteratorSet own = program.iteratorsOf(group[0]);
      const std::vector<const Node *> all = reductionsOf(rootsOf(group));
      for (const Node *node : all) {
        if (!areApart(boundBy(*node), own)) {
          continue; // runs over the stage's already
        }
        for (const std::vector<IteratorId> &to : candidates(*node, own, all)) {
          const IteratorSet set(to.begin(), to.end());
          if (set != boundBy(*node) && areApart(set, node->free) &&
              haveEqualExtents(node->iterators, to)) {
            rename(stage, own, *node, to);
            return true;
          }
        }
      }
    }
    return false;
  }

  /// In the stores of one kernel: another one of the stage needs the reduction over iterators of
  /// its own, and the two would take it from each other for ever.
  void rename(Stage &stage, const IteratorSet &own, const Node &node,
              const std::vector<IteratorId> &to) {
    IndexMap map;
    for (size_t i = 0; i < to.size(); ++i) {
      map[node.iterators[i]] = Affine::iterator(to[i]);
    }
    NodeParts parts = node;
    parts.iterators = to;
    for (const Node *&input : parts.inputs) {
      input = program.nodes.substitute(input, map, program.space);
    }
    const Node *renamed = program.nodes.make(std::move(parts));
    program.nodes.passWord(&node, renamed);
    replaceIn(stage.stores, program, {{&node, renamed}},
              [&](const Store &store) { return program.iteratorsOf(store) == own; });
  }

  // ---- what has to be the same number twice ----

  /// The values that the node compares with the largest or smallest of them, in the reduction's
  /// names and in its own; none where they are read as they are or computed without a choice.
  std::vector<const Node *> comparedWithExtremum(const Node &node) {
    const bool isEquation = node.kind == NodeKind::Map && (node.name == "eq" || node.name == "ne");
    for (size_t side = 0; isEquation && side < 2; ++side) {
      const Node *extremum = node.inputs[side], *value = node.inputs[1 - side];
      const bool isExtremum = extremum->kind == NodeKind::Reduce &&
                              (extremum->name == "max" || extremum->name == "min");
      if (isExtremum && isFloat(value->dtype) && addsProducts(value) &&
          renamingOf(program, extremum->inputs[0], value)) {
        return {extremum->inputs[0], value};
      }
    }
    return {};
  }

  /// Two kernels, and two walks of one, may round what they compute anew differently, so that no
  /// value would be equal to the largest one: such values are left in memory first.
  void keepCompared(size_t stage) {
    for (const std::vector<Store> &group : groupsOf(program, program.stages[stage])) {
      const std::vector<const Node *> roots = rootsOf(group);
      for (const Node *node : reachable(roots)) {
        const std::vector<const Node *> values = comparedWithExtremum(*node);
        if (!values.empty()) {
          materialise(stage, values, readsAtConditionalIndex(roots, values),
                      "it is compared with its extreme, and two kernels might round it "
                      "differently");
          return keepCompared(stage);
        }
      }
    }
  }

  // ---- what several products need ----

  void keepShared(size_t stage) {
    if (apart.contains(ownerOf(stage))) {
      return;
    }
    for (const std::vector<Store> &group : groupsOf(program, program.stages[stage])) {
      const std::vector<const Node *> values = shared.in(group);
      if (!values.empty() && !readsAtConditionalIndex(rootsOf(group), values)) {
        materialise(stage, values, false,
                    "several products need it, which would each compute it in each of their "
                    "blocks");
        return keepShared(stage);
      }
    }
  }

  // ---- cuts ----

  /// Whether a kernel of the stage can be built around the reduction.
  bool isAnchor(const Node &node, const IteratorSet &stage) const {
    if (contractionOf(node)) {
      return node.free == stage;
    }
    const IteratorSet bound = boundBy(node), parallel = without(stage, bound);
    if (!contains(parallel, node.free)) {
      return false;
    }
    if (areApart(bound, stage)) { // its result is what is stored, or all it is needed for
      return node.free == parallel;
    }
    // One program for everything: only where everything is small.
    Polynomial extent = 1;
    for (IteratorId each : bound) {
      extent = extent * program.space.iterators[each].extent;
    }
    return contains(stage, bound) &&
           (!parallel.empty() || program.space.symbols.isAtMost(extent, wholeAtMost));
  }

  /// The reductions of the group that cannot stay in its kernel.
  std::vector<const Node *> strangers(const std::vector<Store> &group) const {
    const IteratorSet stage = program.iteratorsOf(group[0]);
    std::vector<const Node *> all = reductionsOf(rootsOf(group));
    if (hasLine(group)) { // what is reduced on the way to a line comes first
      return all;
    }
    auto anchor = std::find_if(all.rbegin(), all.rend(),
                               [&](const Node *node) { return isAnchor(*node, stage); });
    if (anchor == all.rend()) {
      return all;
    }
    std::erase_if(all, [&](const Node *node) { return !whyApart(*node, **anchor, stage); });
    return all;
  }

  /// The products that another stage has left already, or what this one needs of them: reading it
  /// is less than computing them again.
  std::vector<const Node *> productsLeft(size_t number, const std::vector<Store> &group) {
    std::vector<const Node *> result;
    if (group[0].buffer >= ownBuffers) { // what leaves it
      return result;
    }
    for (const Node *node : reductionsOf(rootsOf(group))) {
      if (contractionOf(*node) && epilogues.isLeft(node, number, group, ownerOf(number), apart)) {
        result.push_back(node);
      }
    }
    return result;
  }

  /// What of other kernels the group reads, and why these are not its own: the same question that
  /// has cut them, of the kernel that needs them in the end.
  void noteCuts(const std::vector<Store> &group) {
    const IteratorSet stage = program.iteratorsOf(group[0]);
    const std::vector<const Node *> all = reductionsOf(rootsOf(group));
    auto anchor = std::find_if(all.rbegin(), all.rend(),
                               [&](const Node *node) { return isAnchor(*node, stage); });
    for (const Node *node : reachable(rootsOf(group))) {
      const auto cut = node->kind == NodeKind::Ref ? cuts.find(node->buffer) : cuts.end();
      if (cut == cuts.end() || reasons.contains(node->buffer)) {
        continue;
      }
      CutReason why{CutKind::Stage, anchor == all.rend() ? nullptr : *anchor, stage};
      if (hasLine(group)) {
        why.kind = CutKind::Line;
      } else if (why.anchor) {
        why.kind = whyApart(*cut->second, *why.anchor, stage).value_or(CutKind::Stage);
      }
      reasons.emplace(node->buffer, textOf(why, *cut->second, *node, program));
    }
  }

  /// Why a reduction does not share the anchor's kernel; nothing where it does.
  static std::optional<CutKind> whyApart(const Node &node, const Node &anchor,
                                         const IteratorSet &stage) {
    const std::optional<Contraction> own = contractionOf(node), other = contractionOf(anchor);
    if (own.has_value() != other.has_value()) {
      return CutKind::Template;
    }
    if (boundBy(node) != boundBy(anchor)) {
      return CutKind::Axes;
    }
    if (!own) {
      const bool stays = contains(without(stage, boundBy(anchor)), node.free);
      return stays ? std::nullopt : std::optional(CutKind::Inside);
    }
    const bool stays = node.free == anchor.free && ((own->m == other->m && own->n == other->n) ||
                                                    (own->m == other->n && own->n == other->m));
    return stays ? std::nullopt : std::optional(CutKind::Tiles);
  }

  /// Whether the stage has lost some of its reductions to a new one before it.
  bool cutOne(size_t number) {
    for (const std::vector<Store> &group : groupsOf(program, program.stages[number])) {
      std::vector<const Node *> cut = strangers(group);
      if (cut.empty()) {
        cut = productsLeft(number, group);
      }
      if (cut.empty()) {
        continue;
      }
      const Node &first = *cut[0]; // the innermost one, and its like
      std::erase_if(cut, [&](const Node *node) {
        return boundBy(*node) != boundBy(first) || node->free != first.free;
      });
      const std::vector<const Node *> reduced = frontier(rootsOf(group), {cut.begin(), cut.end()});
      const std::vector<const Node *> values =
          epilogues.of(reduced, number, group, ownerOf(number), apart);
      materialise(number, values, readsAtConditionalIndex(rootsOf(group), values), "", &first);
      return true;
    }
    return false;
  }

  /// The new stage computes them wherever the iterators lead, without the conditions around them.
  void materialise(size_t number, const std::vector<const Node *> &values, bool isOpen,
                   const std::string &why, const Node *cut = nullptr) {
    LeftValues left =
        leaveValues(program, known, program.stages[number], values, isOpen, ownerOf(number), apart);
    for (const Store &store : left.stores) {
      if (cut) {
        cuts.emplace(store.buffer, cut);
      } else {
        reasons.emplace(store.buffer, why);
      }
    }
    std::vector<Stage> before;
    for (const BufferId buffer : left.found) {
      takeStoresOf(buffer, number, before);
    }
    replaceIn(program.stages[number].stores, program, std::move(left.reads));
    if (!left.stores.empty()) {
      insert(number, {program.stages[number].name, std::move(left.stores)});
    }
    for (; !before.empty(); before.pop_back()) {
      insert(number, std::move(before.back()));
    }
    std::erase_if(program.stages, [](const Stage &stage) { return stage.stores.empty(); });
  }

  /// Moves what this stage, or one behind it, would leave in the buffer to stages before it, with
  /// what that reads of theirs. A stage that leaves h and sum[k](h · u) at the same points reads h
  /// at others.
  void takeStoresOf(BufferId buffer, size_t number, std::vector<Stage> &before) {
    Stage taken{program.stages[number].name, {}};
    for (size_t stage = number; stage < program.stages.size(); ++stage) {
      std::vector<Store> &stores = program.stages[stage].stores;
      auto leaves = [&](const Store &each) { return each.buffer == buffer; };
      std::copy_if(stores.begin(), stores.end(), std::back_inserter(taken.stores), leaves);
      std::erase_if(stores, leaves);
    }
    if (taken.stores.empty()) {
      return; // stands before it already
    }
    for (const Node *node : reachable(rootsOf(taken.stores))) {
      if (node->kind == NodeKind::Ref) {
        takeStoresOf(node->buffer, number, before);
      }
    }
    before.push_back(std::move(taken));
  }

  void insert(size_t number, Stage stage) {
    program.stages.insert(program.stages.begin() + static_cast<ptrdiff_t>(number),
                          std::move(stage));
  }

  /// The output of the stage from which this one has been cut off, or its own.
  BufferId ownerOf(size_t stage) const {
    while (program.stages[stage].stores[0].buffer >= ownBuffers) {
      ++stage;
    }
    return program.stages[stage].stores[0].buffer;
  }

  Program &program;
  const std::set<BufferId> &apart;
  const size_t ownBuffers;
  std::map<BufferId, const Node *> cuts; ///< the reduction of which a temporary has something
  BoundNames names{program};
  SavedValues known{program, names};
  Epilogues epilogues{program, known, names};
  // A stage that may not be launched leaves nothing to others.
  SharedFactors shared{program, names,
                       [this](size_t stage) { return !apart.contains(ownerOf(stage)); }};
};

} // namespace

std::map<BufferId, std::string> partition(Program &program, const std::set<BufferId> &apart) {
  Partitioner partitioner(program, apart);
  partitioner.run();
  return std::move(partitioner.reasons);
}

} // namespace nereid::generator
