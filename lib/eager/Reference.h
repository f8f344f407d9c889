// SPDX-License-Identifier: Apache-2.0
// The reference an implementation is held against: the operator's graph in float64, element by
// element with the C library's functions, together with a bound for each element on what a correct
// implementation in the operator's type may differ. Independent of the kernels in this folder.
// Large tensors are worked through in blocks of rows, so memory stays small.
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/Tensor.h"
#include "runtime/ThreadPool.h"

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

struct Agreement {
  int64_t checked = 0; ///< elements of all outputs
  int64_t mismatches = 0;
  /// Elements where a correct implementation may leave its type's range, so that anything may come
  /// out; they are not among the mismatches.
  int64_t unverifiable = 0;
  double worstRatio = 0;    ///< largest error over its bound; above 1 is a mismatch
  double worstAbsolute = 0; ///< largest absolute error of a finite element
  int firstOutput = -1;     ///< of the first mismatch, in row-major order
  int64_t firstIndex = -1;
  double firstActual = 0, firstExpected = 0, firstBound = 0;
  std::string firstActualText, firstExpectedText; ///< of integers, exact; empty of floats
  bool agrees() const { return mismatches == 0; }
};

/// "element 17 expects 1.5 ± 1e-7, but got nan (3 of 1024 differ)".
std::string describe(const Agreement &agreement);
/// "60 of 645 elements cannot be verified: …".
std::string describeUnverifiable(int64_t unverifiable, int64_t checked);

/// Compares what an implementation wrote with the reference, in blocks. NaN must meet NaN, an
/// infinity the same infinity, an integer itself. E0604 when the tensors do not fit the operator.
Result<Agreement> checkOutputs(const definition::Operator &op,
                               std::span<const runtime::Tensor> inputs,
                               std::span<const runtime::Tensor> outputs, DType dtype,
                               Rounding rounding, runtime::ThreadPool &pool);

} // namespace nereid::eager
