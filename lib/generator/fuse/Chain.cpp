// SPDX-License-Identifier: Apache-2.0
// Recognition of chains, see Chain.h.
#include "lib/generator/fuse/Chain.h"

#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Monoids.h"

#include <algorithm>

namespace nereid::generator {
namespace {

bool isReduce(const Node *node, const char *name) {
  return node->kind == NodeKind::Reduce && node->name == name && node->inputs.size() == 1;
}
bool isFreeOf(const Node *node, const std::vector<IteratorId> &some) {
  return std::none_of(some.begin(), some.end(),
                      [&](IteratorId each) { return node->free.contains(each); });
}

class Recogniser {
public:
  Recogniser(Program &program, const std::vector<Store> &stores)
      : program(program), stores(stores) {}

  std::optional<ProductChain> run() {
    const std::set<IteratorId> stage = program.iteratorsOf(stores[0]);
    const std::vector<const Node *> all = reductionsOf(rootsOf(stores));
    for (const Node *node : all) {
      std::optional<Contraction> outer = node->free == stage ? contractionOf(*node) : std::nullopt;
      if (!outer) {
        continue;
      }
      for (int turn = 0; turn < 2; ++turn) {
        std::optional<ProductChain> chain = chainOf(*outer);
        if (chain && takeBeside(all, *chain)) {
          return chain;
        }
        std::swap(outer->a, outer->b);
        std::swap(outer->m, outer->n);
      }
    }
    return std::nullopt;
  }

private:
  std::optional<ProductChain> chainOf(const Contraction &outer) {
    const Node *scores = scoresOf(outer);
    if (!scores || !reductionsOf({outer.b}).empty()) {
      return std::nullopt;
    }
    const std::vector<const Node *> products = reductionsOf({scores});
    std::optional<Contraction> inner =
        products.size() == 1 ? contractionOf(*products[0]) : std::nullopt;
    if (!inner) {
      return std::nullopt;
    }
    if (!isFreeOf(inner->a, outer.k)) {
      std::swap(inner->a, inner->b);
      std::swap(inner->m, inner->n);
    }
    const bool isOne = isFreeOf(inner->a, outer.k) && isFreeOf(inner->b, outer.m) &&
                       isFreeOf(inner->b, outer.n) && isFreeOf(scores, outer.n);
    if (!isOne) {
      return std::nullopt;
    }
    ProductChain made{outer, *inner, scores};
    made.outer.operand = storageOf(outer.b).value_or(DType::F32);
    return made;
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
      const Node *along = isOne ? this->along(chain.outer.k, *node) : nullptr;
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

  /// s where the outer product's factor a is exp(s - max(s)) / sum(exp(s - max(s))), along its k.
  const Node *scoresOf(const Contraction &outer) {
    const Node *softmax = outer.a;
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
    const bool isSame = along(outer.k, *most) == scores && along(outer.k, *total) == weight &&
                        scores->dtype == DType::F32;
    return isSame ? scores : nullptr;
  }

  /// What is reduced, at `iterators` in place of those that the reduction binds.
  const Node *along(const std::vector<IteratorId> &iterators, const Node &reduction) {
    if (reduction.iterators.size() != iterators.size()) {
      return nullptr;
    }
    IndexMap map;
    for (size_t i = 0; i < iterators.size(); ++i) {
      const Iterator &own = program.space.iterators[reduction.iterators[i]];
      if (own.extent != program.space.iterators[iterators[i]].extent) {
        return nullptr;
      }
      map[reduction.iterators[i]] = Affine::iterator(iterators[i]);
    }
    return program.nodes.substitute(reduction.inputs[0], map, program.space);
  }

  Program &program;
  const std::vector<Store> &stores;
};

} // namespace

std::optional<ProductChain> chainOf(Program &program, const std::vector<Store> &stores) {
  return Recogniser(program, stores).run();
}

} // namespace nereid::generator
