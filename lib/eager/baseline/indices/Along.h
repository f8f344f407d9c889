// SPDX-License-Identifier: Apache-2.0
// Scans, sorted lines and positions of extrema of the baseline: one line after another, on all
// threads, as a library has them.
#pragma once

#include "lib/definition/operations/Operations.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// `out` is contiguous; the line is its last dimension where it has one, see lastLine.
struct AlongPlan {
  const definition::Node *node = nullptr;
  int64_t lines = 1, length = 1, kept = 1; ///< kept: elements of a line of the result
  /// Of a line: how far its first element is from the tensor's.
  std::vector<int64_t> sizes, strides;
  int64_t step = 1; ///< from one element of a line to the next
};

/// Argmax and its like take a contiguous tensor as one line when no dimension is named.
AlongPlan alongPlan(const definition::Node &node, const runtime::Tensor &in);

/// `values` and `positions`: one of them, or both, which are found at once.
void runAlong(const AlongPlan &plan, const runtime::Tensor &in, const runtime::Tensor *values,
              const runtime::Tensor *positions, runtime::ThreadPool &pool);

} // namespace nereid::eager
