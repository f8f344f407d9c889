// SPDX-License-Identifier: Apache-2.0
// Sums of products that a matrix unit can compute: sum[k](a · b) where each factor depends on all
// of k, on iterators of its own, m or n, and on those that both have (batch). Recognised by nodes
// alone, so products of matrices, convolutions and whatever is written like them are one thing.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

struct Contraction {
  const Node *reduce = nullptr, *a = nullptr, *b = nullptr; ///< the sum, its factors
  std::vector<IteratorId> batch, m, n, k;
  DType operand = DType::F32; ///< the type in which factors are multiplied, their storage's

  void exchangeFactors();
};

/// Nothing when the node is none. Factors that are conversions of 16-bit floats of one type are
/// multiplied as they are stored, beside them and among each other those of 8 bits in a 16-bit type
/// that has their numbers; conversions of int8 to int32 as int8; others as they are computed.
std::optional<Contraction> contractionOf(const Node &node);
/// The same in both orders of its factors; nothing when the node is none.
std::vector<Contraction> bothOrdersOf(const Node &node);

/// The 16-bit type that has a factor's numbers as they are stored, if there is one.
std::optional<DType> storageOf(const Node *factor);

/// Contractions of one kernel: the stores' only reductions, over the same iterators, which together
/// with the stores' make the same space; the factors of m first. Empty when there are others.
std::vector<Contraction> contractionsOf(const Program &program, const std::vector<Store> &stores);

} // namespace nereid::generator
