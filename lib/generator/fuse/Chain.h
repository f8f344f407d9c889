// SPDX-License-Identifier: Apache-2.0
// Attention and its like: a product whose left factor is a softmax, along k, of what is computed of
// another product.
//
//   out[i, e] = sum[j](softmax[j](f(sum[d](q[i, d] * k[j, d])))[i, j] * v[j, e])
//
// Recognised by nodes alone: what f does (scale, mask, bias, a soft cap) is not asked, and heads
// that share keys are iterators of i.
#pragma once

#include "lib/generator/fuse/Contraction.h"

namespace nereid::generator {

struct ProductChain {
  Contraction outer;            ///< a: the softmax, b: the values
  Contraction inner;            ///< a: the queries, b: the keys
  const Node *scores = nullptr; ///< of which the softmax is, along outer.k
};

/// The chain that the stores' only outermost reduction is. Asks before fuse/Partition.h cuts it.
/// The program's iterators may become more; nothing else changes.
std::optional<ProductChain> chainOf(Program &program, const std::vector<Store> &stores);

} // namespace nereid::generator
