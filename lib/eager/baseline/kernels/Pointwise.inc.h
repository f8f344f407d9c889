// SPDX-License-Identifier: Apache-2.0
// Functions of single elements.
// Part of Kernels.inc.h, inside of its namespace.

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
NEREID_UNARY(sign, x > 0 ? T(1) : x < 0 ? T(-1) : T(0))
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
NEREID_UNARY(hardswish, x <= -3 ? x * T(0) : x >= 3 ? x : x * (x + T(3)) / T(6))
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

/// Eigen's logarithm, with the values of IEEE at and below zero and below the normal numbers, where
/// it stops at that of the smallest of them.
template <class T> void logLoop(const Operand<T> *operands, T *out, int64_t n) {
  constexpr T smallest = std::numeric_limits<T>::min();
  const T *in = operands[0].data;
  Results<T>(out, n) = Values<T>(in, n).log();
  int64_t subnormal = 0;
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T y = in[i] == infinity<T>() ? in[i] : out[i];
    y = in[i] == 0 ? -infinity<T>() : y;
    y = in[i] < 0 ? notANumber<T>() : y;
    out[i] = in[i] != in[i] ? in[i] : y;
    subnormal += in[i] > 0 && in[i] < smallest;
  }
  for (int64_t i = 0; subnormal > 0 && i < n; ++i) {
    if (in[i] > 0 && in[i] < smallest) {
      out[i] = static_cast<T>(::log(static_cast<double>(in[i])));
      --subnormal;
    }
  }
}

/// A saturating odd function: NaN passes through, what is so small that its powers underflow is
/// times SLOPE, the rest is Eigen's.
#define NEREID_SATURATING(NAME, SLOPE, EXPRESSION)                                                 \
  template <class T> void NAME##Loop(const Operand<T> *operands, T *out, int64_t n) {              \
    const T *in = operands[0].data;                                                                \
    Values<T> x(in, n);                                                                            \
    Results<T>(out, n) = EXPRESSION;                                                               \
    NEREID_INDEPENDENT                                                                             \
    for (int64_t i = 0; i < n; ++i) {                                                              \
      T y = absolute(in[i]) < T(1e-20) ? in[i] * T(SLOPE) : out[i];                                \
      out[i] = in[i] != in[i] ? in[i] : y;                                                         \
    }                                                                                              \
  }
NEREID_SATURATING(tanh, 1, x.tanh())
NEREID_SATURATING(erf, 1.1283791670955126, x.erf())

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
    T x = (in[i] < low[i]) | (low[i] != low[i]) ? low[i] : in[i];
    out[i] = (x > high[i]) | (high[i] != high[i]) ? high[i] : x;
  }
}

template <class T> void leaky_reluLoop(const Operand<T> *operands, T *out, int64_t n) {
  const T *in = operands[0].data, *slope = operands[1].data;
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] = in[i] < 0 ? in[i] * slope[i] : in[i];
  }
}
