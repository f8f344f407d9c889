// SPDX-License-Identifier: Apache-2.0
// Inner loops of eager execution as function pointers. Kernels.inc.h implements them once and is
// compiled per instruction set; kernelTable() picks the build for this machine. No Eigen, and
// nothing from the standard library with code in it: those builds must not leak inline functions
// compiled for instructions the machine may lack.
#pragma once

#include "runtime/elements/DType.h"

#include <cstdint>

namespace nereid::eager {

enum class OpId : int {
#define NEREID_OPERATION(name, kind, flops, rounding, result, signature) name,
#include "lib/definition/operations/operations.def"
  count
};

/// One operand of a pointwise loop: n values, or one for all (isScalar).
template <class T> struct Operand {
  const T *data;
  bool isScalar;
};

template <class T> using PointwiseLoop = void (*)(const Operand<T> *operands, T *out, int64_t n);

/// Accumulated value of a reduction over `count` elements: sum, product or extremum in `value`;
/// for a variance the mean, and the sum of squared deviations in `squares`.
struct Accumulator {
  double value;
  double squares;
  int64_t count;
};

template <class T> struct TypedKernels {
  /// Indexed by OpId; null where the operation is no pointwise one. Only binary arithmetic and
  /// comparisons accept scalar operands; see acceptsScalar.
  PointwiseLoop<T> pointwise[static_cast<int>(OpId::count)];
  bool acceptsScalar[static_cast<int>(OpId::count)];
  /// gelu with approximate="tanh".
  PointwiseLoop<T> geluTanh;
  /// Reduces n contiguous elements; indexed by OpId (sum, prod, amax, amin, var).
  Accumulator (*reduceRow)(OpId op, const T *in, int64_t n);
  /// state[i] = combine(state[i], in[i]): sum, prod, amax, amin.
  void (*accumulateColumns)(OpId op, const T *in, T *state, int64_t n);
  /// squares[i] += (in[i] - mean[i])^2.
  void (*accumulateSquares)(const T *in, const T *mean, T *squares, int64_t n);
  /// Whole rows, as one library call each. In place is allowed.
  void (*softmaxRow)(const T *in, T *out, int64_t n, bool logarithm);
  /// weight and bias may be null.
  void (*layerNormRow)(const T *in, const T *weight, const T *bias, T eps, T *out, int64_t n);
  void (*rmsNormRow)(const T *in, const T *weight, T eps, T *out, int64_t n);
  /// c[m, n] = a[m, k] b[k, n]; rows of neighbouring elements, `…Stride` elements apart.
  void (*multiply)(const T *a, int64_t aStride, const T *b, int64_t bStride, T *c, int64_t cStride,
                   int64_t m, int64_t n, int64_t k);
};

struct KernelTable {
  const char *instructionSet;
  TypedKernels<float> f32;
  TypedKernels<double> f64;
  void (*halfToFloat)(const uint16_t *in, float *out, int64_t n);
  void (*floatToHalf)(const float *in, uint16_t *out, int64_t n);
  void (*bfloat16ToFloat)(const uint16_t *in, float *out, int64_t n);
  void (*floatToBfloat16)(const float *in, uint16_t *out, int64_t n);
  /// state[i] += in[i], converted in registers.
  void (*addHalf)(const uint16_t *in, float *state, int64_t n);
  void (*addBfloat16)(const uint16_t *in, float *state, int64_t n);
};

const KernelTable &kernelTable();

namespace v2 {
const KernelTable &kernels();
}
namespace v3 {
const KernelTable &kernels();
}
namespace v4 {
const KernelTable &kernels();
}

} // namespace nereid::eager
