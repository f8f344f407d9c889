// SPDX-License-Identifier: Apache-2.0
// The inner loops, compiled once per instruction set: KernelsV2/V3/V4.cpp set NEREID_EAGER_ISA and
// include this. Eigen is renamed per build, so that its inline functions compiled for different
// instruction sets never meet in the linker; for the same reason no code of the C++ standard
// library is instantiated here. Selections and arithmetic are plain loops the compiler vectorises;
// functions are Eigen's packet code, with the special values IEEE asks for put right.
#ifndef NEREID_EAGER_ISA
#error "define NEREID_EAGER_ISA as v2, v3 or v4"
#endif

#define NEREID_JOIN2(a, b) a##b
#define NEREID_JOIN(a, b) NEREID_JOIN2(a, b)
#define NEREID_TEXT2(a) #a
#define NEREID_TEXT(a) NEREID_TEXT2(a)
#define Eigen NEREID_JOIN(NereidEigen_, NEREID_EAGER_ISA)
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_IO
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include "lib/eager/baseline/kernels/KernelTable.h"

#include <cmath>

/// Before a loop whose arrays are the same or disjoint: iterations do not depend on each other, and
/// in place is as good as apart. Without it the compiler's overlap check sends both to scalar code.
#if defined(__clang__)
#define NEREID_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define NEREID_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace nereid::eager::NEREID_EAGER_ISA {
namespace {

template <class T> using Values = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T> using Results = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

template <class T> inline T infinity() { return static_cast<T>(__builtin_inf()); }
template <class T> inline T notANumber() { return static_cast<T>(__builtin_nan("")); }
inline float absolute(float x) { return __builtin_fabsf(x); }
inline double absolute(double x) { return __builtin_fabs(x); }
inline float squareRoot(float x) { return __builtin_sqrtf(x); }
inline double squareRoot(double x) { return __builtin_sqrt(x); }

#include "lib/eager/baseline/kernels/Pointwise.inc.h"

#include "lib/eager/baseline/kernels/Rows.inc.h"

#include "lib/eager/baseline/kernels/Narrow.inc.h"

template <class T> TypedKernels<T> makeKernels() {
  TypedKernels<T> kernels = {};
  auto set = [&](OpId op, PointwiseLoop<T> loop, bool scalars) {
    kernels.pointwise[static_cast<int>(op)] = loop;
    kernels.acceptsScalar[static_cast<int>(op)] = scalars;
  };
#define NEREID_SET(NAME) set(OpId::NAME, NAME##Loop<T>, false)
#define NEREID_SET_BINARY(NAME) set(OpId::NAME, NAME##Loop<T>, true)
  NEREID_SET(neg);
  NEREID_SET(abs);
  NEREID_SET(sign);
  NEREID_SET(floor);
  NEREID_SET(ceil);
  NEREID_SET(round);
  NEREID_SET(trunc);
  NEREID_SET(square);
  NEREID_SET(reciprocal);
  NEREID_SET(sqrt);
  NEREID_SET(rsqrt);
  NEREID_SET(exp);
  NEREID_SET(exp2);
  NEREID_SET(expm1);
  NEREID_SET(log);
  NEREID_SET(log2);
  NEREID_SET(log1p);
  NEREID_SET(sin);
  NEREID_SET(cos);
  NEREID_SET(tanh);
  NEREID_SET(erf);
  NEREID_SET(erfc);
  NEREID_SET(sigmoid);
  NEREID_SET(relu);
  NEREID_SET(leaky_relu);
  NEREID_SET(elu);
  NEREID_SET(gelu);
  NEREID_SET(silu);
  NEREID_SET(mish);
  NEREID_SET(softplus);
  NEREID_SET(hardsigmoid);
  NEREID_SET(hardswish);
  NEREID_SET(isnan);
  NEREID_SET(isinf);
  NEREID_SET(isfinite);
  NEREID_SET(logical_not);
  NEREID_SET(where);
  NEREID_SET(masked_fill);
  NEREID_SET(clamp);
  NEREID_SET_BINARY(add);
  NEREID_SET_BINARY(sub);
  NEREID_SET_BINARY(mul);
  NEREID_SET_BINARY(div);
  NEREID_SET_BINARY(pow);
  NEREID_SET_BINARY(maximum);
  NEREID_SET_BINARY(minimum);
  NEREID_SET_BINARY(eq);
  NEREID_SET_BINARY(ne);
  NEREID_SET_BINARY(lt);
  NEREID_SET_BINARY(le);
  NEREID_SET_BINARY(gt);
  NEREID_SET_BINARY(ge);
  NEREID_SET_BINARY(logical_and);
  NEREID_SET_BINARY(logical_or);
  NEREID_SET_BINARY(logical_xor);
  kernels.geluTanh = geluTanhLoop<T>;
  kernels.reduceRow = reduceRow<T>;
  kernels.accumulateColumns = accumulateColumns<T>;
  kernels.accumulateSquares = accumulateSquares<T>;
  kernels.softmaxRow = softmaxRow<T>;
  kernels.layerNormRow = layerNormRow<T>;
  kernels.rmsNormRow = rmsNormRow<T>;
  kernels.multiply = multiply<T>;
  return kernels;
}

} // namespace

const KernelTable &kernels() {
  static const KernelTable table = {"x86-64-" NEREID_TEXT(NEREID_EAGER_ISA),
                                    makeKernels<float>(),
                                    makeKernels<double>(),
                                    halfToFloat,
                                    floatToHalf,
                                    bfloat16ToFloat,
                                    floatToBfloat16,
                                    addHalf,
                                    addBfloat16};
  return table;
}

} // namespace nereid::eager::NEREID_EAGER_ISA
