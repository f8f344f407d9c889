// SPDX-License-Identifier: Apache-2.0
// The reference an implementation is held against: the operator's graph in float64, element by
// element with the C library's functions, together with a bound for each element on what a correct
// implementation in the operator's type may differ. Independent of the baseline's kernels, and of
// the generator that it judges but for definition/operations/Decompose.cpp, by whose formulas both
// open composites; composites_test.cpp compares these with kernels that are written without them.
// Large tensors are worked through in blocks of rows, so memory stays small.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/eager/Comparison.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <span>

namespace nereid::eager {

struct ReferenceOutput {
  runtime::Tensor values, bounds; ///< float64, contiguous; a bound of infinity: not verifiable
};

/// How the implementation under test rounds: a fused kernel computes in float32 and rounds its
/// results once, an eager framework rounds after every operation.
enum class Rounding { OncePerResult, EachOperation };

/// All outputs of the operator for the inputs (as runGraph takes them) in `dtype`.
Result<std::vector<ReferenceOutput>> runReference(const definition::Operator &op,
                                                  std::span<const runtime::Tensor> inputs,
                                                  DType dtype, Rounding rounding,
                                                  runtime::ThreadPool &pool);

/// Compares what an implementation wrote with the reference, in blocks. NaN must meet NaN, an
/// infinity the same infinity, an integer itself. E0604 when the tensors do not fit the operator.
Result<Comparison> checkOutputs(const definition::Operator &op,
                                std::span<const runtime::Tensor> inputs,
                                std::span<const runtime::Tensor> outputs, DType dtype,
                                Rounding rounding, runtime::ThreadPool &pool);

} // namespace nereid::eager
