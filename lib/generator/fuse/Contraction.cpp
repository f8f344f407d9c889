// SPDX-License-Identifier: Apache-2.0
// Recognition of contractions, see Contraction.h.
#include "lib/generator/fuse/Contraction.h"

#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using IteratorSet = std::set<IteratorId>;

std::vector<IteratorId> listOf(const IteratorSet &all, const IteratorSet &isIn,
                               const IteratorSet &isNotIn) {
  std::vector<IteratorId> result;
  std::copy_if(all.begin(), all.end(), std::back_inserter(result),
               [&](IteratorId each) { return isIn.contains(each) && !isNotIn.contains(each); });
  return result;
}

} // namespace

namespace {

/// Of a conversion, the type of what is converted.
DType storedType(const Node *factor) {
  const bool isCast = isMap(*factor, "cast");
  return isCast ? factor->inputs[0]->dtype : factor->dtype;
}

/// Whether the 16-bit type has every number of the stored one.
bool isOf(DType type, DType stored) {
  return stored == type || isFloat8(stored) || stored == DType::I8 || stored == DType::U8;
}

/// The type in which two factors can be multiplied without a loss.
std::optional<DType> commonOf(DType a, DType b) {
  for (DType type : {DType::F16, DType::BF16}) {
    if (isOf(type, a) && isOf(type, b)) {
      return type;
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<DType> storageOf(const Node *factor) {
  return commonOf(storedType(factor), storedType(factor));
}

std::optional<Contraction> contractionOf(const Node &node) {
  const bool isOfIntegers = node.dtype == DType::I32;
  if (node.kind != NodeKind::Reduce || node.name != "sum" ||
      (node.dtype != DType::F32 && !isOfIntegers)) {
    return std::nullopt;
  }
  const Node *product = node.inputs[0];
  if (product->kind != NodeKind::Map || product->name != "mul") {
    return std::nullopt;
  }
  Contraction made{&node, product->inputs[0], product->inputs[1], {}, {}, {}, node.iterators};
  const IteratorSet bound(made.k.begin(), made.k.end()), &a = made.a->free, &b = made.b->free;
  auto hasAll = [&](const IteratorSet &some) {
    return std::includes(some.begin(), some.end(), bound.begin(), bound.end());
  };
  made.batch = listOf(a, b, bound);
  made.m = listOf(a, a, b);
  made.n = listOf(b, b, a);
  if (!hasAll(a) || !hasAll(b) || made.m.empty() || made.n.empty()) {
    return std::nullopt;
  }
  const DType first = storedType(made.a), second = storedType(made.b);
  if (isOfIntegers) {
    made.operand = DType::I8;
    return first == DType::I8 && second == DType::I8 ? std::optional(made) : std::nullopt;
  }
  made.operand = commonOf(first, second).value_or(DType::F32);
  return made;
}

void Contraction::exchangeFactors() {
  std::swap(a, b);
  std::swap(m, n);
}

std::vector<Contraction> bothOrdersOf(const Node &node) {
  const std::optional<Contraction> one = contractionOf(node);
  if (!one) {
    return {};
  }
  std::vector<Contraction> both = {*one, *one};
  both[1].exchangeFactors();
  return both;
}

std::vector<Contraction> contractionsOf(const Program &program, const std::vector<Store> &stores) {
  std::vector<Contraction> result;
  for (const Node *node : reachable(rootsOf(stores))) {
    if (node->kind != NodeKind::Reduce) {
      continue;
    }
    std::optional<Contraction> one = contractionOf(*node);
    if (!one || node->free != program.iteratorsOf(stores[0])) {
      return {};
    }
    if (!result.empty() && one->m == result[0].n && one->n == result[0].m) {
      one->exchangeFactors();
    }
    auto isOfBytes = [](const Contraction &each) { return each.operand == DType::I8; };
    const bool isAlike = result.empty() || (isOfBytes(*one) == isOfBytes(result[0]) &&
                                            one->m == result[0].m && one->n == result[0].n &&
                                            one->batch == result[0].batch && one->k == result[0].k);
    if (!isAlike) {
      return {};
    }
    result.push_back(std::move(*one));
  }
  return result;
}

} // namespace nereid::generator
