// SPDX-License-Identifier: Apache-2.0
// Attention and its like: a product whose left factor is a softmax, along k, of what is computed of
// another product.
//
//   out[i, e] = sum[j](softmax[j](f(sum[d](q[i, d] * k[j, d])))[i, j] * v[j, e])
//
// Recognised by nodes alone: what f does (scale, mask, bias, a soft cap) is not asked, and heads
// that share keys are iterators of i. Beside it may stand reductions along j of what needs no other
// one, as that by which a query that sees nothing is 0:
//
//   out[i, e] = where(any[j](mask[i, j]), …, 0)
#pragma once

#include "lib/generator/fuse/Contraction.h"

namespace nereid::generator {

/// A reduction that is no part of the products.
struct BesideChain {
  const Node *reduce = nullptr; ///< as the stores have it
  const Node *own = nullptr;    ///< along the iterators of outer.k
};

struct ProductChain {
  Contraction outer;            ///< a: the softmax, b: the values
  Contraction inner;            ///< a: the queries, b: the keys
  const Node *scores = nullptr; ///< of which the softmax is, along outer.k
  std::vector<BesideChain> beside = {};
};

/// The chain whose outer product is the stores' outermost reduction. Asks before fuse/Partition.h
/// cuts it. The program's iterators may become more; nothing else changes.
std::optional<ProductChain> chainOf(Program &program, const std::vector<Store> &stores);

} // namespace nereid::generator
