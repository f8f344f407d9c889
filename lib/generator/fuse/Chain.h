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
//
// The softmax's shares may be scaled and dropped on their way to the values:
//
//   out[i, e] = sum[j](where(kept[i, j], share[i, j] / scale, 0) * v[j, e])
#pragma once

#include "lib/generator/fuse/Contraction.h"

namespace nereid::generator {

/// A reduction that is no part of the products.
struct BesideChain {
  const Node *reduce = nullptr; ///< as the stores have it
  const Node *own = nullptr;    ///< along the iterators of outer.k
};

/// What becomes of a softmax's shares before they meet the values.
struct PassedShares {
  /// A share, whose value the kernel gives; a reduction over one element in the program.
  const Node *share = nullptr;
  const Node *value = nullptr; ///< of the share; null: the share itself
  const Node *kept = nullptr;  ///< where it is not 0 whatever the share is; null: everywhere
};

struct ProductChain {
  Contraction outer; ///< a: the weights, b: the values
  /// Of which the weights are computed; a: the queries, b: the keys.
  std::vector<Contraction> inner;
  /// Of which the weights are the softmax along outer.k. Null: they are what they say, and no other
  /// reduction is in them.
  const Node *scores = nullptr;
  /// Of a softmax: the largest score and the sum of exponentials, as the weights have them.
  const Node *top = nullptr, *total = nullptr;
  PassedShares passed = {};
  std::vector<BesideChain> beside = {};

  /// Whether the weights, which are no softmax made here, are rounded to what the values are stored
  /// as: products of 16 bits.
  bool areWeightsRounded() const;
};

/// The chain whose outer product is the stores' outermost reduction. Asks before fuse/Partition.h
/// cuts it. The program's iterators may become more; nothing else changes.
std::optional<ProductChain> chainOf(Program &program, const std::vector<Store> &stores);

/// s where the product's factor a is exp(s - max(s)) / sum(exp(s - max(s))), along its k, or what
/// is left of that where it is scaled by a number and dropped; null where it is not.
const Node *scoresOf(Program &program, const Contraction &outer);

/// The outermost reductions of these values: none that another one of them needs.
std::vector<const Node *> outermostOf(const std::vector<const Node *> &roots);

/// Both ways in which the stores' only outermost reduction is a product of what is computed of
/// reductions, a, and of what is not, b.
std::vector<Contraction> weightedSumsOf(const Program &program, const std::vector<Store> &stores);

/// The product as one that a weight at `rows` and `keys` is computed of: a is free of the keys, b
/// of the rows, and neither has a reduction.
std::optional<Contraction> innerProductOf(const Node &node, const std::vector<IteratorId> &rows,
                                          const std::vector<IteratorId> &keys);

/// The value with its products over iterators of their own where they are over some of the tile's:
/// softmax(q @ k.mT) @ k reads k along one and the same.
const Node *withOwnDepths(Program &program, const Node *value, const Contraction &outer);

/// `reduction` along `keys` in place of the iterators that it binds: what is reduced, null where
/// their extents are others.
const Node *reducedAlong(Program &program, const std::vector<IteratorId> &keys,
                         const Node &reduction);

} // namespace nereid::generator
