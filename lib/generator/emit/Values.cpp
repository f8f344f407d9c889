// SPDX-License-Identifier: Apache-2.0
// Values under the conditions around them, and constants, see Values.h.
#include "lib/generator/emit/Values.h"

#include "lib/generator/KernelExpression.h"
#include "lib/generator/emit/DataReads.h"
#include "lib/generator/emit/NanCover.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Monoids.h"

#include <algorithm>
#include <cmath>

namespace nereid::generator {
namespace {

using kernel::call;
using kernel::name;

bool isConst(const Node *node) { return node->kind == NodeKind::Const; }

} // namespace

Values::Values(const Program &program, const std::vector<const Node *> &roots, Tile &tile,
               kernel::Body &body, Arguments &arguments)
    : program(program), tile(tile), body(body), arguments(arguments),
      monoids(tile, body, arguments, coveredExtrema(roots)), shared(roots),
      products(exponentProducts(roots)) {
  for (const Node *root : roots) {
    ++uses[root];
  }
  for (const Node *node : reachable(roots)) {
    bool readsMemory = isAccess(*node);
    if (node->kind == NodeKind::Pick) {
      picks[node->inputs[0]].push_back(node);
    }
    for (const Node *input : node->inputs) {
      ++uses[input];
      readsMemory |= reads(input);
    }
    for (const Affine &index : node->indices) {
      index.forEachAtom([&](const Atom &atom) {
        uses[atom.node] += atom.node != nullptr;
        readsMemory |= atom.node && reads(atom.node);
      });
    }
    if (readsMemory) {
      reading.insert(node);
    }
  }
}

// ---- values under conditions ----

/// Those of the conditions around a value on which its loads depend: under others it is the same.
const Conditions &Values::needs(const Node *node, const Conditions &around) {
  auto [found, isNew] = needed.try_emplace({node, around});
  Conditions &result = found->second;
  if (!isNew || around.empty() || !reads(node)) {
    return result;
  }
  if (Conditions kept = shared.kept(node, around); kept != around) {
    return result = needs(node, kept);
  }
  if (readsAtData(*node)) {
    return result = around; // what is promised of the index may rest on any of them
  }
  Conditions sum;
  auto add = [&](const Conditions &some) { sum.insert(sum.end(), some.begin(), some.end()); };
  for (const Affine &index : node->indices) {
    index.forEachAtom([&](const Atom &atom) {
      if (atom.node) {
        add(needs(atom.node, around));
      }
    });
  }
  if (isAccess(*node)) {
    add(maskOf(node->indices, program.buffers[node->buffer], node->free, around, program.space)
            .conditions);
  }
  const Conditions own = apartFrom(node->iterators, around);
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    Conditions inner = own, chosen;
    if (isMap(*node, "where") && i > 0) { // what it chooses by holds there, whatever is around
      addConditions(node->inputs[0], i == 1, chosen);
      addConditions(node->inputs[0], i == 1, inner);
    }
    Conditions ofInput = needs(node->inputs[i], inner);
    std::erase_if(ofInput, [&](const Condition &each) {
      return std::find(chosen.begin(), chosen.end(), each) != chosen.end();
    });
    add(ofInput);
  }
  // In their order; one that reads memory may rest on those before it.
  bool isKept = false;
  for (size_t i = own.size(); i-- > 0;) {
    const bool isNeeded = std::find(sum.begin(), sum.end(), own[i]) != sum.end();
    if (isKept || isNeeded) {
      result.insert(result.begin(), own[i]);
      isKept |= reads(own[i].node);
    }
  }
  return result;
}

Values::Value Values::value(const Node *node, const Conditions &around) {
  if (isConst(node)) {
    return constant(*node, node->dtype);
  }
  const Conditions kept = needs(node, around);
  const std::pair key(node, kept);
  if (auto found = known.find(key); found != known.end()) {
    return found->second;
  }
  Value made;
  if (tile.isInLoop() && !tile.variesInLoop(node->free)) {
    tile.outside([&] { made = written(node, kept, true); });
  } else {
    made = written(node, kept, false);
  }
  known[key] = made;
  return made;
}

/// Under a name when it is needed more than once, or its text is long, or where that is asked for.
Values::Value Values::written(const Node *node, const Conditions &around, bool isNamed) {
  Value made = compute(node, around);
  const Node *source = isMap(*node, "cast") ? node->inputs[0] : node;
  const Node *loaded = selectedLoad(source).load;
  const bool isShort = made.tree->kind == kernel::ExprKind::Name || made.isLiteral;
  if (!isShort && (isNamed || loaded || uses[node] > 1 || made.height > heightAtMost)) {
    const std::string memory = loaded ? program.buffers[program.baseOf(loaded->buffer)].name : "t";
    const bool isCalled = !loaded || !program.nodes.wordFor(node).empty();
    made = loaded && loaded->kind == NodeKind::Load
               ? named(memory, made) // an input keeps its name
               : named(isCalled ? *node : *source, memory, made);
  }
  return made;
}

Values::Value Values::named(const std::string &hint, const Value &value) {
  const std::string fresh = arguments.names.fresh(hint);
  body.assign(fresh, value.tree);
  return {name(fresh)};
}

Values::Value Values::named(const Node &node, const std::string &otherwise, const Value &value) {
  const std::string fresh = arguments.freshFor(program.nodes.wordFor(&node), otherwise);
  body.assign(fresh, value.tree);
  return {name(fresh)};
}

/// Of a tuple the name of what picks the component.
std::string Values::wordFor(const Node &node, size_t component) const {
  if (node.inputs.size() == 1) {
    return program.nodes.wordFor(&node);
  }
  if (auto found = picks.find(&node); found != picks.end()) {
    for (const Node *pick : found->second) {
      if (pick->component == component && !program.nodes.wordFor(pick).empty()) {
        return program.nodes.wordFor(pick);
      }
    }
  }
  return "";
}

Values::Value Values::compute(const Node *node, const Conditions &around) {
  if (const Selected selected = selectedLoad(node); selected.load) {
    return load(selected, around);
  }
  if (node->kind == NodeKind::Param) {
    return {arguments.number(*node)};
  }
  if (node->kind == NodeKind::Index) {
    present = around;
    return {node->free.empty() ? call("tl.cast", {index(node->indices[0]), name("tl.int64")})
                               : generator::cast(index(node->indices[0]), "tl.int64")};
  }
  if (node->kind == NodeKind::Reduce || node->kind == NodeKind::Scan) {
    return {reduced(node, around)[0]};
  }
  if (node->kind == NodeKind::Pick) {
    return {reduced(node->inputs[0], around)[node->component]};
  }
  return products.rounded.contains(node) ? roundedProduct(*node, around) : operation(*node, around);
}

// ---- constants ----

Values::Value Values::constant(const Node &node, DType dtype) const {
  const double real = isFloat(node.dtype) ? node.real : static_cast<double>(node.integer);
  if (isFloat(dtype)) {
    return {kernel::real(real), 1, true};
  }
  const int64_t whole = isFloat(node.dtype) ? static_cast<int64_t>(node.real) : node.integer;
  if (dtype == DType::Bool) {
    return {kernel::Expr(isFloat(node.dtype) ? real != 0 : node.integer != 0), 1, true};
  }
  return {dtype == DType::U64 ? kernel::integer(std::to_string(static_cast<uint64_t>(whole)))
                              : kernel::Expr(whole),
          1, true};
}

/// The value with its type, which a literal alone does not have.
kernel::Expr Values::typed(const Value &value, DType dtype) const {
  if (!value.isLiteral) {
    return value.tree;
  }
  std::vector<kernel::Expr> shape(tile.rank(), 1);
  return call("tl.full", {kernel::tuple(std::move(shape)), value.tree, name(languageName(dtype))});
}

// ---- reductions ----

/// Whether the value is `identity` in lanes outside of the dimension: these are not loaded.
bool Values::isIdentityOutside(const Node *value, double identity, size_t dim) const {
  if (isMap(*value, "cast")) {
    return value->dtype != DType::Bool && isIdentityOutside(value->inputs[0], identity, dim);
  }
  if (isMap(*value, "mul") && identity == 0) {
    return isIdentityOutside(value->inputs[0], 0, dim) &&
           isIdentityOutside(value->inputs[1], 0, dim);
  }
  const Selected selected = selectedLoad(value);
  if (!selected.load || !tile.dimsOf(selected.load->free).contains(dim)) {
    return false;
  }
  const Node *other = selected.other;
  const double outside = !other                  ? 0
                         : isFloat(other->dtype) ? other->real
                                                 : static_cast<double>(other->integer);
  return outside == identity && !std::signbit(outside);
}

/// The component's value, and the identity in lanes outside of the reduced dimensions.
kernel::Expr Values::guarded(const Node &node, size_t component, const Conditions &around) {
  const Node *input = node.inputs[component];
  Value own = value(input, around);
  kernel::Expr tree = typed(own, input->dtype);
  if (input->dtype == DType::Bool) {
    tree = input->free.empty() ? call("tl.cast", {tree, name("tl.int32")})
                               : generator::cast(tree, "tl.int32");
  }
  const double identity = findMonoid(node.name)->identity[component];
  const std::vector<size_t> dims = tile.reducedDims();
  if (std::all_of(dims.begin(), dims.end(),
                  [&](size_t dim) { return isIdentityOutside(input, identity, dim); })) {
    return tree;
  }
  return call("tl.where", {tile.inside({dims.begin(), dims.end()}), tree,
                           LaneMonoids::identityOf(node, component)});
}

Lanes Values::lanesOf(const Node &node, const Conditions &around) {
  Lanes lanes;
  for (size_t component = 0; component < node.inputs.size(); ++component) {
    if (isNumber(*node.inputs[component], findMonoid(node.name)->identity[component])) {
      lanes.push_back(LaneMonoids::identityOf(node, component)); // also outside
      continue;
    }
    kernel::Expr lane = guarded(node, component, around);
    lanes.push_back(lane->kind == kernel::ExprKind::Name ? lane : monoids.fresh("lanes", lane));
  }
  return lanes;
}

/// The reduction's components, each under a name.
const Lanes &Values::reduced(const Node *node, const Conditions &around) {
  if (auto found = given.find(node); found != given.end()) {
    return found->second;
  }
  const Key key(node, needs(node, around));
  if (auto found = reductions.find(key); found != reductions.end()) {
    return found->second;
  }
  Lanes lanes;
  if (tile.dimensions()[*tile.reducedDim()].form == DimForm::Looped) {
    isLacking = true; // no loop has met it under these conditions
    lanes.assign(node->inputs.size(), kernel::Expr(0));
  } else {
    lanes = monoids.joined(*node, lanesOf(*node, key.second));
    for (size_t component = 0; component < lanes.size(); ++component) {
      lanes[component] = freshOf(*node, component, lanes[component]);
    }
  }
  return reductions[key] = lanes;
}

kernel::Expr Values::factor(const Node *node, DType type, size_t dim) {
  const bool isConverted = isMap(*node, "cast") && node->dtype != type;
  const Node *stored = isConverted ? node->inputs[0] : node;
  kernel::Expr tree = typed(value(stored, {}), stored->dtype);
  if (isConverted && stored->dtype != type) {
    tree = generator::cast(tree, languageName(type));
  }
  if (!isIdentityOutside(stored, 0, dim)) {
    const kernel::Expr zero = isFloat(type) ? kernel::real(0) : kernel::Expr(0);
    tree = call("tl.where", {tile.inside({dim}), tree, zero});
  }
  return tree->kind == kernel::ExprKind::Name ? tree : monoids.fresh("factor", tree);
}

// ---- loops ----

/// Accumulators before they have met anything, one for each point of the iterators.
Lanes Values::accumulators(const Node &node, const std::set<IteratorId> &iterators,
                           const std::string &hint) {
  const DimSet varies = tile.dimsOf(iterators);
  std::vector<kernel::Expr> shape;
  for (size_t dim = 0; dim < tile.dimensions().size(); ++dim) {
    if (tile.dimensions()[dim].form != DimForm::Point) {
      shape.push_back(varies.contains(dim) ? name(tile.dimensions()[dim].block) : kernel::Expr(1));
    }
  }
  Lanes made;
  for (size_t component = 0; component < node.inputs.size(); ++component) {
    const std::string word = wordFor(node, component);
    made.push_back(monoids.freshFor(
        word.empty() ? "" : word + hint, node.name + hint,
        call("tl.full", {kernel::tuple(shape), LaneMonoids::identityOf(node, component),
                         name(languageName(LaneMonoids::typeOf(node, component)))})));
  }
  return made;
}

/// What the inputs of a line are together; `isWhole`: along it as well.
kernel::Expr Values::shapeOfLine(const Node &line, bool isWhole) const {
  std::set<IteratorId> iterators;
  for (const Node *input : line.inputs) {
    iterators.insert(input->free.begin(), input->free.end());
  }
  iterators.erase(line.iterators[0]);
  if (isWhole) {
    iterators.insert(line.iterators[0]);
  }
  const DimSet varies = tile.dimsOf(iterators);
  std::vector<kernel::Expr> shape;
  for (size_t dim = 0; dim < tile.dimensions().size(); ++dim) {
    shape.push_back(varies.contains(dim) ? name(tile.dimensions()[dim].block) : kernel::Expr(1));
  }
  return kernel::tuple(std::move(shape));
}

Lanes Values::lanesOfLine(const Node &line) {
  Lanes lanes = lanesOf(line, {});
  for (kernel::Expr &lane : lanes) { // a scan of several has them in one shape
    if (lanes.size() > 1 && tile.rank() > 1) {
      lane = monoids.fresh("lanes", call("tl.broadcast_to", {lane, shapeOfLine(line, true)}));
    }
  }
  return lanes;
}

Lanes Values::scanned(const Node &line, const Lanes &lanes, bool isLast) {
  std::vector<std::string> words;
  for (size_t component = 0; isLast && component < lanes.size(); ++component) {
    words.push_back(wordFor(line, component));
  }
  return monoids.scanned(line, lanes, words);
}

Lanes Values::beforeLines(const Node &line) {
  Lanes made;
  for (size_t component = 0; component < line.inputs.size(); ++component) {
    made.push_back(monoids.fresh(
        "carry",
        call("tl.full", {shapeOfLine(line, false), LaneMonoids::identityOf(line, component),
                         name(languageName(LaneMonoids::typeOf(line, component)))})));
  }
  return made;
}

kernel::Expr Values::laneValue(const Node *node, const Conditions &around) {
  const kernel::Expr tree = valueOf(node, around);
  return tree->kind == kernel::ExprKind::Name ? tree : monoids.fresh("lanes", tree);
}

size_t Values::levelOfConditions(const Conditions &conditions) {
  size_t level = 0;
  Conditions before;
  for (const Condition &each : conditions) {
    level = std::max(level, levelOf(each.node, before));
    before.push_back(each);
  }
  return level;
}

/// How many loops have to come before the value; of a reduction, its own one included.
size_t Values::levelOf(const Node *node, const Conditions &around) {
  const Key key(node, needs(node, around));
  if (auto found = levels.find(key); found != levels.end()) {
    return found->second;
  }
  size_t level = levelOfConditions(key.second);
  for (const Affine &index : node->indices) {
    index.forEachAtom([&](const Atom &atom) {
      level = std::max(level, atom.node ? levelOf(atom.node, key.second) : 0);
    });
  }
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    Conditions inner = key.second;
    if (isMap(*node, "where") && i > 0) {
      addConditions(node->inputs[0], i == 1, inner);
    }
    level = std::max(level, levelOf(node->inputs[i], inner));
  }
  if (node->kind == NodeKind::Reduce) {
    byLevel.resize(std::max(byLevel.size(), level + 1));
    byLevel[level].push_back(key);
    ++level;
  }
  return levels[key] = level;
}

/// Which of a walk's reductions join a turn's lanes in it: those of which joining costs more than
/// what is joined, an exponential or a quotient, and sums that "welford" makes of a turn anyway.
static std::set<const Node *> joinedByTurn(const std::vector<const Node *> &walk) {
  std::set<const Node *> made;
  for (const Node *each : walk) {
    if (each->name == "logsumexp" || each->name == "welford") {
      made.insert(each);
    }
    for (const Node *other : walk) {
      if (each->name == "sum" && other->name == "welford" && other->inputs[1] == each->inputs[0]) {
        made.insert(each);
      }
    }
  }
  return made;
}

void Values::reduceInLoops(const std::vector<Store> &stores) {
  for (const Store &store : stores) {
    Conditions guard;
    if (store.guard) {
      addConditions(store.guard, true, guard);
    }
    levelOfConditions(guard);
    levelOf(store.value, guard);
    for (const Affine &index : store.index) {
      index.forEachAtom([&](const Atom &atom) {
        if (atom.node) {
          levelOf(atom.node, guard);
        }
      });
    }
  }
  for (const std::vector<Key> &level : byLevel) {
    std::vector<const Node *> nodes;
    for (const auto &[node, around] : level) {
      nodes.push_back(node);
    }
    const std::set<const Node *> byTurn = joinedByTurn(nodes);
    areTurnsJoined = areTurnsJoined || !byTurn.empty();
    std::vector<Lanes> lanes;
    for (const Node *node : nodes) {
      std::set<IteratorId> iterators = node->free;
      iterators.insert(node->iterators.begin(), node->iterators.end());
      lanes.push_back(byTurn.contains(node) ? beforeTurns(*node)
                                            : accumulators(*node, iterators, "_lanes"));
    }
    loopOverValues([&] {
      for (size_t i = 0; i < level.size(); ++i) {
        const Node &node = *level[i].first;
        if (byTurn.contains(&node)) {
          addTurn(node, lanes[i], level[i].second);
        } else {
          join(node, lanes[i], lanesOf(node, level[i].second));
        }
      }
    });
    for (size_t i = 0; i < level.size(); ++i) {
      const Node &node = *level[i].first;
      reductions[level[i]] =
          behindTurns(node, byTurn.contains(&node) ? lanes[i] : monoids.together(node, lanes[i]));
    }
  }
}

Lanes Values::beforeTurns(const Node &reduce) {
  return accumulators(reduce, reduce.free, "_so_far");
}

void Values::addTurn(const Node &reduce, const Lanes &results, const Conditions &around) {
  Lanes turn = monoids.together(reduce, lanesOf(reduce, around));
  for (size_t component = 0; component < turn.size(); ++component) {
    const DType type = LaneMonoids::typeOf(reduce, component);
    if (sizeInBytes(type) < sizeof(int32_t)) { // the language joins these as 32 bits
      turn[component] = generator::cast(turn[component], languageName(type));
    }
    turn[component] = monoids.fresh("turn", turn[component]);
  }
  join(reduce, results, turn);
}

void Values::join(const Node &reduce, const Lanes &results, const Lanes &added) {
  Lanes next = monoids.combined(reduce, results, added);
  for (kernel::Expr &each : next) { // first all, because they are computed of the old ones
    each = next.size() == 1 || each->kind == kernel::ExprKind::Name ? each
                                                                    : monoids.fresh("next", each);
  }
  for (size_t component = 0; component < next.size(); ++component) {
    body.assign(results[component]->text, next[component]);
  }
}

Lanes Values::behindTurns(const Node &reduce, const Lanes &results) {
  Lanes made = monoids.inTypesOf(reduce, results);
  for (size_t component = 0; component < made.size(); ++component) {
    made[component] = freshOf(reduce, component, made[component]);
  }
  return made;
}

void Values::loopOverValues(const std::function<void()> &inside) {
  tile.loop(inside);
  for (std::map<Key, Value> *values : {&known, &places}) {
    std::erase_if(*values,
                  [&](const auto &value) { return tile.variesInLoop(value.first.first->free); });
  }
  std::erase_if(divisions, [&](const auto &division) {
    std::set<IteratorId> iterators;
    Affine::atom(division.first).collect(iterators);
    return tile.variesInLoop(iterators);
  });
}

} // namespace nereid::generator
