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

#include "lib/eager/kernels/KernelTable.h"

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

/// out = exp(x - shift), in place if need be; returns the sum of the results (null: only that).
/// Eigen clamps the argument of exp: NaN, -inf and what underflows are put right afterwards.
template <class T> double exponential(const T *x, T *out, int64_t n, T shift = T(0)) {
  constexpr T lowest = sizeof(T) == 4 ? T(-103.98) : T(-745.14);
  constexpr T highest = sizeof(T) == 4 ? T(88.7228317) : T(709.7827128933839);
  constexpr int64_t block = 256;
  T in[block], unstored[block];
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += block) {
    int64_t count = n - begin < block ? n - begin : block;
    NEREID_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      in[i] = x[begin + i] - shift;
    }
    T *result = out ? out + begin : unstored;
    Results<T>(result, count) = Values<T>(in, count).exp();
    NEREID_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      T y = result[i];
      y = in[i] < lowest ? T(0) : y;
      y = in[i] > highest ? infinity<T>() : y;
      result[i] = in[i] != in[i] ? in[i] : y;
    }
    total += static_cast<double>(Values<T>(result, count).sum());
  }
  return total;
}

#define NEREID_UNARY(NAME, EXPRESSION)                                                             \
  template <class T> void NAME##Loop(const Operand<T> *operands, T *out, int64_t n) {              \
    const T *in = operands[0].data;                                                                \
    NEREID_INDEPENDENT                                                                             \
    for (int64_t i = 0; i < n; ++i) {                                                              \
      T x = in[i];                                                                                 \
      out[i] = EXPRESSION;                                                                         \
    }                                                                                              \
  }

NEREID_UNARY(neg, -x)
NEREID_UNARY(abs, absolute(x))
NEREID_UNARY(sign, x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x)
NEREID_UNARY(square, x *x)
NEREID_UNARY(reciprocal, T(1) / x)
NEREID_UNARY(sqrt, squareRoot(x))
NEREID_UNARY(rsqrt, T(1) / squareRoot(x))
NEREID_UNARY(relu, x < 0 ? T(0) : x)
NEREID_UNARY(isnan, T(x != x))
NEREID_UNARY(isinf, T(absolute(x) == infinity<T>()))
NEREID_UNARY(isfinite, T(absolute(x) < infinity<T>()))
NEREID_UNARY(logical_not, T(x == 0))
NEREID_UNARY(hardsigmoid, x <= -3 ? T(0) : x >= 3 ? T(1) : (x + T(3)) / T(6))
NEREID_UNARY(hardswish, x <= -3 ? T(0) : x >= 3 ? x : x * (x + T(3)) / T(6))
NEREID_UNARY(exp2, static_cast<T>(::exp2(static_cast<double>(x))))
NEREID_UNARY(log2, static_cast<T>(::log2(static_cast<double>(x))))
NEREID_UNARY(erfc, static_cast<T>(::erfc(static_cast<double>(x))))
NEREID_UNARY(expm1, static_cast<T>(::expm1(static_cast<double>(x))))
NEREID_UNARY(log1p, static_cast<T>(::log1p(static_cast<double>(x))))
NEREID_UNARY(round, static_cast<T>(::nearbyint(static_cast<double>(x))))
NEREID_UNARY(trunc, static_cast<T>(::trunc(static_cast<double>(x))))
NEREID_UNARY(floor, static_cast<T>(::floor(static_cast<double>(x))))
NEREID_UNARY(ceil, static_cast<T>(::ceil(static_cast<double>(x))))

/// Eigen's vector function where it has one for T, the C library's otherwise.
#define NEREID_EIGEN_UNARY(NAME, EXPRESSION)                                                       \
  template <class T> void NAME##Loop(const Operand<T> *operands, T *out, int64_t n) {              \
    Values<T> x(operands[0].data, n);                                                              \
    Results<T>(out, n) = EXPRESSION;                                                               \
  }

NEREID_EIGEN_UNARY(sin, x.sin())
NEREID_EIGEN_UNARY(cos, x.cos())

template <class T> void expLoop(const Operand<T> *operands, T *out, int64_t n) {
  exponential(operands[0].data, out, n);
}

/// Eigen's logarithm, with the values of IEEE at and below zero.
template <class T> void logLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *in = operands[0].data;
  Results<T>(out, n) = Values<T>(in, n).log();
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T y = in[i] == infinity<T>() ? in[i] : out[i];
    y = in[i] == 0 ? -infinity<T>() : y;
    y = in[i] < 0 ? notANumber<T>() : y;
    out[i] = in[i] != in[i] ? in[i] : y;
  }
}

/// A saturating odd function: NaN passes through, the rest is Eigen's.
#define NEREID_SATURATING(NAME, EXPRESSION)                                                        \
  template <class T> void NAME##Loop(const Operand<T> *operands, T *out, int64_t n) {              \
    const T *in = operands[0].data;                                                                \
    Values<T> x(in, n);                                                                            \
    Results<T>(out, n) = EXPRESSION;                                                               \
    NEREID_INDEPENDENT                                                                             \
    for (int64_t i = 0; i < n; ++i) {                                                              \
      out[i] = in[i] != in[i] ? in[i] : out[i];                                                    \
    }                                                                                              \
  }
NEREID_SATURATING(tanh, x.tanh())
NEREID_SATURATING(erf, x.erf())

template <class T> void sigmoidLoop(const Operand<T> *operands, T *out, int64_t n) {
  Operand<T> negated{out, false};
  negLoop<T>(operands, out, n);
  expLoop<T>(&negated, out, n);
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] = T(1) / (T(1) + out[i]);
  }
}

constexpr int64_t stage = 512;

/// out = f(x) where f needs x again after a function of it: runs `inner` on pieces in a buffer.
#define NEREID_STAGED(NAME, PREPARE, INNER, FINISH)                                                \
  template <class T> void NAME(const Operand<T> *operands, T *out, int64_t n) {                    \
    T prepared[stage], buffer[stage];                                                              \
    Operand<T> staged{prepared, false};                                                            \
    for (int64_t begin = 0; begin < n; begin += stage) {                                           \
      int64_t count = n - begin < stage ? n - begin : stage;                                       \
      const T *in = operands[0].data + begin;                                                      \
      NEREID_INDEPENDENT                                                                           \
      for (int64_t i = 0; i < count; ++i) {                                                        \
        T x = in[i];                                                                               \
        prepared[i] = PREPARE;                                                                     \
      }                                                                                            \
      INNER<T>(&staged, buffer, count);                                                            \
      NEREID_INDEPENDENT                                                                           \
      for (int64_t i = 0; i < count; ++i) {                                                        \
        T x = in[i], y = buffer[i];                                                                \
        out[begin + i] = FINISH;                                                                   \
      }                                                                                            \
    }                                                                                              \
  }

NEREID_STAGED(geluLoop, x *T(0.70710678118654752440), erfLoop, T(0.5) * x * (T(1) + y))
NEREID_STAGED(geluTanhLoop, T(0.79788456080286535588) * (x + T(0.044715) * x * x * x), tanhLoop,
              T(0.5) * x * (T(1) + y))
NEREID_STAGED(siluLoop, -x, expLoop, x / (T(1) + y))

template <class T> void softplusLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *in = operands[0].data, *beta = operands[1].data, *threshold = operands[2].data;
  for (int64_t i = 0; i < n; ++i) {
    double scaled = static_cast<double>(in[i]) * static_cast<double>(beta[i]);
    double soft = ::log1p(::exp(scaled)) / static_cast<double>(beta[i]);
    out[i] = scaled > static_cast<double>(threshold[i]) ? in[i] : static_cast<T>(soft);
  }
}

template <class T> void mishLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *in = operands[0].data;
  for (int64_t i = 0; i < n; ++i) {
    auto x = static_cast<double>(in[i]);
    double soft = x > 40 ? x : ::log1p(::exp(x));
    out[i] = static_cast<T>(x * ::tanh(soft));
  }
}

template <class T> void eluLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *in = operands[0].data, *alpha = operands[1].data;
  for (int64_t i = 0; i < n; ++i) {
    T negative = alpha[i] * static_cast<T>(::expm1(static_cast<double>(in[i])));
    out[i] = in[i] > 0 ? in[i] : negative;
  }
}

/// Both operands may be one value for all: three loops, each vectorised.
#define NEREID_BINARY(NAME, EXPRESSION)                                                            \
  template <class T> void NAME##Loop(const Operand<T> *operands, T *out, int64_t n) {              \
    const T *left = operands[0].data, *right = operands[1].data;                                   \
    if (operands[0].isScalar) {                                                                    \
      T a = left[0];                                                                               \
      bool rightIsScalar = operands[1].isScalar;                                                   \
      NEREID_INDEPENDENT                                                                           \
      for (int64_t i = 0; i < n; ++i) {                                                            \
        T b = right[rightIsScalar ? 0 : i];                                                        \
        out[i] = EXPRESSION;                                                                       \
      }                                                                                            \
    } else if (operands[1].isScalar) {                                                             \
      T b = right[0];                                                                              \
      NEREID_INDEPENDENT                                                                           \
      for (int64_t i = 0; i < n; ++i) {                                                            \
        T a = left[i];                                                                             \
        out[i] = EXPRESSION;                                                                       \
      }                                                                                            \
    } else {                                                                                       \
      NEREID_INDEPENDENT                                                                           \
      for (int64_t i = 0; i < n; ++i) {                                                            \
        T a = left[i], b = right[i];                                                               \
        out[i] = EXPRESSION;                                                                       \
      }                                                                                            \
    }                                                                                              \
  }

NEREID_BINARY(add, a + b)
NEREID_BINARY(sub, a - b)
NEREID_BINARY(mul, a *b)
NEREID_BINARY(div, a / b)
NEREID_BINARY(maximum, a != a ? a : b != b ? b : a > b ? a : b)
NEREID_BINARY(minimum, a != a ? a : b != b ? b : a < b ? a : b)
NEREID_BINARY(eq, T(a == b))
NEREID_BINARY(ne, T(a != b))
NEREID_BINARY(lt, T(a < b))
NEREID_BINARY(le, T(a <= b))
NEREID_BINARY(gt, T(a > b))
NEREID_BINARY(ge, T(a >= b))
NEREID_BINARY(logical_and, T((a != 0) & (b != 0)))
NEREID_BINARY(logical_or, T((a != 0) | (b != 0)))
NEREID_BINARY(logical_xor, T((a != 0) != (b != 0)))

template <class T> void powLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *base = operands[0].data, *exponent = operands[1].data;
  int64_t baseStep = operands[0].isScalar ? 0 : 1, exponentStep = operands[1].isScalar ? 0 : 1;
  bool known = exponentStep == 0 && baseStep == 1;
  if (known && exponent[0] == 2) {
    return squareLoop<T>(operands, out, n);
  }
  if (known && exponent[0] == T(0.5)) {
    return sqrtLoop<T>(operands, out, n);
  }
  if (known && exponent[0] == -1) {
    return reciprocalLoop<T>(operands, out, n);
  }
  if (known && exponent[0] == 3) {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = base[i] * base[i] * base[i];
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<T>(::pow(static_cast<double>(base[i * baseStep]),
                                  static_cast<double>(exponent[i * exponentStep])));
  }
}

template <class T> void whereLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *condition = operands[0].data, *a = operands[1].data, *b = operands[2].data;
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] = condition[i] != 0 ? a[i] : b[i];
  }
}

template <class T> void masked_fillLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *in = operands[0].data, *mask = operands[1].data, *value = operands[2].data;
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] = mask[i] != 0 ? value[i] : in[i];
  }
}

template <class T> void clampLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *in = operands[0].data, *low = operands[1].data, *high = operands[2].data;
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T x = in[i] < low[i] ? low[i] : in[i];
    out[i] = x > high[i] ? high[i] : x;
  }
}

template <class T> void leaky_reluLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *in = operands[0].data, *slope = operands[1].data;
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] = in[i] < 0 ? in[i] * slope[i] : in[i];
  }
}

/// Vector sums of blocks, added up in double.
template <class T> double sumOf(const T *in, int64_t n) {
  constexpr int64_t block = 4096;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += block) {
    int64_t count = n - begin < block ? n - begin : block;
    total += static_cast<double>(Values<T>(in + begin, count).sum());
  }
  return total;
}

template <class T> Accumulator reduceRow(OpId op, const T *in, int64_t n) {
  Values<T> x(in, n);
  switch (op) {
  case OpId::amax:
    return {static_cast<double>(x.template maxCoeff<Eigen::PropagateNaN>()), 0, n};
  case OpId::amin:
    return {static_cast<double>(x.template minCoeff<Eigen::PropagateNaN>()), 0, n};
  case OpId::prod: {
    double product = 1;
    for (int64_t i = 0; i < n; ++i) {
      product *= static_cast<double>(in[i]);
    }
    return {product, 0, n};
  }
  case OpId::var: {
    double mean = sumOf(in, n) / static_cast<double>(n);
    double squares = static_cast<double>((x - static_cast<T>(mean)).square().sum());
    return {mean, squares, n};
  }
  default:
    return {sumOf(in, n), 0, n};
  }
}

template <class T> void accumulateColumns(OpId op, const T *in, T *state, int64_t n) {
  Operand<T> operands[2] = {{state, false}, {in, false}};
  switch (op) {
  case OpId::amax:
    return maximumLoop<T>(operands, state, n);
  case OpId::amin:
    return minimumLoop<T>(operands, state, n);
  case OpId::prod:
    return mulLoop<T>(operands, state, n);
  default:
    return addLoop<T>(operands, state, n);
  }
}

template <class T> void accumulateSquares(const T *in, const T *mean, T *squares, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T deviation = in[i] - mean[i];
    squares[i] += deviation * deviation;
  }
}

template <class T> void softmaxRow(const T *in, T *out, int64_t n, bool logarithm) {
  T maximum = Values<T>(in, n).template maxCoeff<Eigen::PropagateNaN>();
  double total = exponential(in, logarithm ? nullptr : out, n, maximum);
  if (logarithm) {
    T shift = static_cast<T>(::log(total));
    NEREID_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      out[i] = in[i] - maximum - shift;
    }
    return;
  }
  T scale = static_cast<T>(1 / total);
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] *= scale;
  }
}

template <class T>
void scaleRow(const T *in, T shift, T scale, const T *weight, const T *bias, T *out, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T y = (in[i] - shift) * scale;
    y = weight ? y * weight[i] : y;
    out[i] = bias ? y + bias[i] : y;
  }
}

template <class T>
void layerNormRow(const T *in, const T *weight, const T *bias, T eps, T *out, int64_t n) {
  Accumulator moments = reduceRow(OpId::var, in, n);
  double variance = moments.squares / static_cast<double>(n);
  T scale = static_cast<T>(1 / ::sqrt(variance + static_cast<double>(eps)));
  scaleRow(in, static_cast<T>(moments.value), scale, weight, bias, out, n);
}

template <class T> void rmsNormRow(const T *in, const T *weight, T eps, T *out, int64_t n) {
  double power = static_cast<double>(Values<T>(in, n).square().sum()) / static_cast<double>(n);
  T scale = static_cast<T>(1 / ::sqrt(power + static_cast<double>(eps)));
  scaleRow<T>(in, T(0), scale, weight, nullptr, out, n);
}

template <class T>
void multiply(const T *a, int64_t aStride, const T *b, int64_t bStride, T *c, int64_t cStride,
              int64_t m, int64_t n, int64_t k) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Strided = Eigen::OuterStride<>;
  Eigen::Map<const Matrix, 0, Strided> left(a, m, k, Strided(aStride));
  Eigen::Map<const Matrix, 0, Strided> right(b, k, n, Strided(bStride));
  Eigen::Map<Matrix, 0, Strided> product(c, m, n, Strided(cStride));
  if (k == 0) {
    product.setZero();
  } else {
    product.noalias() = left * right;
  }
}

void bfloat16ToFloat(const uint16_t *in, float *out, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] = __builtin_bit_cast(float, static_cast<uint32_t>(in[i]) << 16);
  }
}

void floatToBfloat16(const float *in, uint16_t *out, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    auto bits = __builtin_bit_cast(uint32_t, in[i]);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    bool isNan = (bits & 0x7fffffffu) > 0x7f800000u;
    out[i] = static_cast<uint16_t>(isNan ? (bits >> 16) | 0x40u : rounded);
  }
}

void addBfloat16(const uint16_t *in, float *state, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    state[i] += __builtin_bit_cast(float, static_cast<uint32_t>(in[i]) << 16);
  }
}

#ifdef __F16C__
void addHalf(const uint16_t *in, float *state, int64_t n) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16) {
    __m512 value = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(in + i)));
    _mm512_storeu_ps(state + i, _mm512_add_ps(_mm512_loadu_ps(state + i), value));
  }
#endif
  for (; i + 8 <= n; i += 8) {
    __m256 value = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i)));
    _mm256_storeu_ps(state + i, _mm256_add_ps(_mm256_loadu_ps(state + i), value));
  }
  for (; i < n; ++i) {
    state[i] += _cvtsh_ss(in[i]);
  }
}

void halfToFloat(const uint16_t *in, float *out, int64_t n) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16) {
    __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(in + i));
    _mm512_storeu_ps(out + i, _mm512_cvtph_ps(bits));
  }
#endif
  for (; i + 8 <= n; i += 8) {
    __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(bits));
  }
  for (; i < n; ++i) {
    out[i] = _cvtsh_ss(in[i]);
  }
}

void floatToHalf(const float *in, uint16_t *out, int64_t n) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16) {
    __m256i bits = _mm512_cvtps_ph(_mm512_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + i), bits);
  }
#endif
  for (; i + 8 <= n; i += 8) {
    __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i), bits);
  }
  for (; i < n; ++i) {
    out[i] = static_cast<uint16_t>(_cvtss_sh(in[i], _MM_FROUND_TO_NEAREST_INT));
  }
}
#else
void addHalf(const uint16_t *in, float *state, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    state[i] += nereid::fromHalf(in[i]);
  }
}

void halfToFloat(const uint16_t *in, float *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = nereid::fromHalf(in[i]);
  }
}

void floatToHalf(const float *in, uint16_t *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = nereid::toHalf(static_cast<double>(in[i]));
  }
}
#endif

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
