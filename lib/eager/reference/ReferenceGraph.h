// SPDX-License-Identifier: Apache-2.0
// Evaluates a graph of primitives on concrete tensors with the rules of ErrorRules.h, on the
// calling thread. Reference.cpp feeds it one block at a time.
#pragma once

#include "lib/eager/reference/rules/ErrorRules.h"
#include "runtime/tensor/Tensor.h"

#include <vector>

namespace nereid::eager {

/// Its memory is kept for the thread's next block when it is small: blocks come by the thousand,
/// and fresh pages would cost more than the arithmetic.
struct BoundedTensor {
  std::vector<int64_t> sizes;
  std::vector<Bounded> elements;
  /// Of integers (not bool) the exact values, extended to 64 bits; `elements` has the nearest
  /// doubles. Empty otherwise.
  std::vector<uint64_t> integers;
  /// No element has an error: said where it is known, so that nobody has to look.
  bool isExact = false;
  /// Of integers: with its error an element may lie beyond the ends of its type, which is at the
  /// other one: errors are distances around the ends, see IntegerRules.h.
  bool mayWrap = false;

  BoundedTensor() = default;
  BoundedTensor(BoundedTensor &&) = default;
  BoundedTensor &operator=(BoundedTensor &&) = default;
  ~BoundedTensor();
  /// Gives `elements` the size n; what they hold is unspecified.
  void allocate(size_t n);
  /// The same of `integers`.
  void allocateIntegers(size_t n);
};

/// All elements of a tensor, any strides, with no error.
BoundedTensor loadBounded(const runtime::Tensor &tensor);

/// One entry per output. `inputs`: one tensor per parameter (shape [] for numbers). Where `loaded`
/// has an entry for a parameter that is not null, that one is used instead. `types` are those of
/// the nodes.
Result<std::vector<BoundedTensor>> evaluateBounded(const definition::Operator &graph,
                                                   const std::vector<DType> &types,
                                                   std::span<const runtime::Tensor> inputs,
                                                   std::span<const BoundedTensor *const> loaded,
                                                   const ErrorModel &model);

} // namespace nereid::eager
