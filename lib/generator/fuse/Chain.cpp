// SPDX-License-Identifier: Apache-2.0
// Recognition of chains, see Chain.h.
#include "lib/generator/fuse/Chain.h"

#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Monoids.h"

#include <algorithm>
#include <functional>

namespace nereid::generator {
namespace {

bool isReduce(const Node *node, const char *name) {
  return node->kind == NodeKind::Reduce && node->name == name && node->inputs.size() == 1;
}
bool isFreeOf(const Node *node, const std::vector<IteratorId> &some) {
  return std::none_of(some.begin(), some.end(),
                      [&](IteratorId each) { return node->free.contains(each); });
}

bool isScale(const Node *node) { return node->free.empty() && reductionsOf({node}).empty(); }

/// Shares that are scaled by a number or are 0 where a condition says so, from outside inwards.
class Passage {
public:
  explicit Passage(const Contraction &outer) : outer(outer) {}

  /// What is inside of it all.
  const Node *softmax() {
    const Node *inside = outer.a;
    while (const Node *next = insideOf(inside)) {
      inside = next;
    }
    return inside;
  }
  /// Where the shares are kept, and where they are dropped: the conditions, in the same order.
  std::vector<const Node *> kept, dropped;

private:
  const Node *insideOf(const Node *node) {
    if (node->dtype != DType::F32) {
      return nullptr;
    }
    if (isMap(*node, "where")) {
      const Node *condition = node->inputs[0];
      const bool dropsElse = isNumber(*node->inputs[2], 0);
      if (!isFreeOf(condition, outer.n) || !reductionsOf({condition}).empty() ||
          dropsElse == isNumber(*node->inputs[1], 0)) {
        return nullptr;
      }
      (dropsElse ? kept : dropped).push_back(condition);
      return node->inputs[dropsElse ? 1 : 2];
    }
    if ((isMap(*node, "div") || isMap(*node, "mul")) && isScale(node->inputs[1])) {
      return node->inputs[0];
    }
    return isMap(*node, "mul") && isScale(node->inputs[0]) ? node->inputs[1] : nullptr;
  }

  const Contraction &outer;
};

/// Both ways in which the node is a product of what is computed of reductions, a, and of what is
/// not, b, at all of the stage's iterators.
std::vector<Contraction> weightedSums(const Node &node, const std::set<IteratorId> &stage) {
  if (node.free != stage) {
    return {};
  }
  std::vector<Contraction> result = bothOrdersOf(node);
  std::erase_if(result, [](const Contraction &each) { return !reductionsOf({each.b}).empty(); });
  return result;
}

class Recogniser {
public:
  Recogniser(Program &program, const std::vector<Store> &stores)
      : program(program), stores(stores) {}

  std::optional<ProductChain> run() {
    const std::set<IteratorId> stage = program.iteratorsOf(stores[0]);
    const std::vector<const Node *> all = reductionsOf(rootsOf(stores));
    for (const Node *node : all) {
      for (const Contraction &outer : weightedSums(*node, stage)) {
        std::optional<ProductChain> chain = chainOf(outer);
        if (chain && takeBeside(all, *chain)) {
          return chain;
        }
      }
    }
    return std::nullopt;
  }

private:
  std::optional<ProductChain> chainOf(const Contraction &outer) {
    const Node *found = scoresOf(program, outer);
    if (!found || !isFreeOf(found, outer.n)) {
      return std::nullopt;
    }
    const Node *scores = withOwnDepths(program, found, outer);
    const std::vector<const Node *> products = reductionsOf({scores});
    std::optional<Contraction> inner =
        products.size() == 1 ? innerProductOf(*products[0], outer.m, outer.k) : std::nullopt;
    if (!inner) {
      return std::nullopt;
    }
    Passage passage(outer);
    const Node *softmax = passage.softmax();
    const Node *away = softmax->inputs[0]->inputs[0];
    ProductChain made{outer, {*inner}, scores, away->inputs[1], softmax->inputs[1]};
    made.passed = passedOf(outer, *softmax, passage);
    made.outer.operand = storageOf(outer.b).value_or(DType::F32);
    return made;
  }

  PassedShares passedOf(const Contraction &outer, const Node &softmax, const Passage &passage) {
    if (&softmax == outer.a) {
      return {};
    }
    const IteratorId one = program.space.iterators.add(1, "share");
    const Node *share = program.nodes.reduce("sum", DType::F32, {one}, {softmax.inputs[0]});
    std::map<const Node *, const Node *> done = {{&softmax, share}};
    auto made = [&](NodeParts parts) { return program.nodes.make(std::move(parts)); };
    PassedShares passed{share, program.nodes.rebuild(outer.a, program.space, made, done)};
    auto add = [&](const Node *condition) {
      passed.kept = passed.kept
                        ? program.nodes.map("logical_and", DType::Bool, {passed.kept, condition})
                        : condition;
    };
    std::for_each(passage.kept.begin(), passage.kept.end(), add);
    for (const Node *condition : passage.dropped) {
      add(program.nodes.map("logical_not", DType::Bool, {condition}));
    }
    return passed;
  }

  /// Whether all reductions but the chain's own run over its keys as well, each for itself.
  bool takeBeside(std::vector<const Node *> all, ProductChain &chain) {
    const std::vector<const Node *> own = reductionsOf({chain.outer.reduce});
    std::erase_if(all, [&](const Node *node) {
      return std::find(own.begin(), own.end(), node) != own.end();
    });
    for (const Node *node : all) {
      const Monoid *monoid = node->kind == NodeKind::Reduce ? findMonoid(node->name) : nullptr;
      const bool isOne = monoid && monoid->components == 1 && monoid->isCommutative &&
                         reductionsOf(node->inputs).empty() && isFreeOf(node, chain.outer.n);
      const Node *along = isOne ? reducedAlong(program, chain.outer.k, *node) : nullptr;
      if (!along) {
        return false;
      }
      NodeParts parts = *node;
      parts.iterators = chain.outer.k;
      parts.inputs = {along};
      chain.beside.push_back({node, program.nodes.make(std::move(parts))});
    }
    return true;
  }

  Program &program;
  const std::vector<Store> &stores;
};

} // namespace

const Node *scoresOf(Program &program, const Contraction &outer) {
  const Node *softmax = Passage(outer).softmax();
  if (!isMap(*softmax, "div") || !isMap(*softmax->inputs[0], "exp") ||
      !isReduce(softmax->inputs[1], "sum")) {
    return nullptr;
  }
  const Node *weight = softmax->inputs[0], *total = softmax->inputs[1];
  const Node *away = weight->inputs[0];
  if (!isMap(*away, "sub") || !isReduce(away->inputs[1], "max")) {
    return nullptr;
  }
  const Node *scores = away->inputs[0], *most = away->inputs[1];
  const bool isSame = reducedAlong(program, outer.k, *most) == scores &&
                      reducedAlong(program, outer.k, *total) == weight &&
                      scores->dtype == DType::F32;
  return isSame ? scores : nullptr;
}

std::vector<const Node *> outermostOf(const std::vector<const Node *> &roots) {
  std::vector<const Node *> open;
  std::set<const Node *> seen;
  std::function<void(const Node *)> walk = [&](const Node *node) {
    if (!seen.insert(node).second) {
      return;
    }
    if (node->kind == NodeKind::Reduce) {
      open.push_back(node);
      return;
    }
    std::for_each(node->inputs.begin(), node->inputs.end(), walk);
  };
  std::for_each(roots.begin(), roots.end(), walk);
  return open;
}

std::vector<Contraction> weightedSumsOf(const Program &program, const std::vector<Store> &stores) {
  const std::set<IteratorId> stage = program.iteratorsOf(stores[0]);
  const std::vector<const Node *> all = reductionsOf(rootsOf(stores));
  std::vector<Contraction> result;
  for (const Node *node : all) {
    if (reductionsOf({node}).size() == all.size()) {
      const std::vector<Contraction> sums = weightedSums(*node, stage);
      result.insert(result.end(), sums.begin(), sums.end());
    }
  }
  return result;
}

std::optional<Contraction> innerProductOf(const Node &node, const std::vector<IteratorId> &rows,
                                          const std::vector<IteratorId> &keys) {
  std::optional<Contraction> inner = contractionOf(node);
  if (!inner || !reductionsOf(node.inputs).empty()) {
    return std::nullopt;
  }
  if (!isFreeOf(inner->a, keys)) {
    inner->exchangeFactors();
  }
  return isFreeOf(inner->a, keys) && !isFreeOf(inner->a, rows) && isFreeOf(inner->b, rows)
             ? inner
             : std::nullopt;
}

const Node *withOwnDepths(Program &program, const Node *value, const Contraction &outer) {
  std::map<const Node *, const Node *> done;
  for (const Node *node : reductionsOf({value})) {
    const bool isShared =
        std::any_of(node->iterators.begin(), node->iterators.end(), [&](IteratorId each) {
          return !isFreeOf(outer.reduce, {each}) || !isFreeOf(outer.a, {each});
        });
    if (!isShared || !reductionsOf(node->inputs).empty()) {
      continue;
    }
    NodeParts parts = *node;
    IndexMap map;
    for (IteratorId &bound : parts.iterators) {
      const Polynomial extent = program.space.iterators[bound].extent;
      const IteratorId own = program.space.iterators.add(Polynomial(extent), "depth");
      map[bound] = Affine::iterator(own);
      bound = own;
    }
    for (const Node *&input : parts.inputs) {
      input = program.nodes.substitute(input, map, program.space);
    }
    done[node] = program.nodes.make(std::move(parts));
    program.nodes.passWord(node, done[node]);
  }
  auto made = [&](NodeParts parts) { return program.nodes.make(std::move(parts)); };
  return done.empty() ? value : program.nodes.rebuild(value, program.space, made, done);
}

const Node *reducedAlong(Program &program, const std::vector<IteratorId> &keys,
                         const Node &reduction) {
  if (reduction.iterators.size() != keys.size()) {
    return nullptr;
  }
  IndexMap map;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Iterator &own = program.space.iterators[reduction.iterators[i]];
    if (own.extent != program.space.iterators[keys[i]].extent) {
      return nullptr;
    }
    map[reduction.iterators[i]] = Affine::iterator(keys[i]);
  }
  return program.nodes.substitute(reduction.inputs[0], map, program.space);
}

bool ProductChain::areWeightsRounded() const {
  return !scores && outer.operand != DType::F32 && storageOf(outer.a) == outer.operand;
}

std::optional<ProductChain> chainOf(Program &program, const std::vector<Store> &stores) {
  return Recogniser(program, stores).run();
}

} // namespace nereid::generator
