// SPDX-License-Identifier: Apache-2.0
// Proves the error bounds of docs/math.md: every function on samples of all its arguments (each
// 4093rd float32 bit pattern, random float64 ones, and the ranges where errors are largest),
// against the C library one precision up. Special values must come out as IEEE 754 and C99 say.
#include "unittests/target_cpu/CodegenHarness.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace nereid::cpu::test {
namespace {

using Real = long double;

struct Function {
  const char *op;
  double bound32, bound64; // ulp
  Real (*reference)(Real);
};

// The table of docs/math.md.
const Function functions[] = {
    {"exp", 1.1, 1.1, [](Real x) { return std::exp(x); }},
    {"exp2", 1.1, 1.1, [](Real x) { return std::exp2(x); }},
    {"expm1", 2.0, 2.0, [](Real x) { return std::expm1(x); }},
    {"log", 1.0, 1.0, [](Real x) { return std::log(x); }},
    {"log2", 2.0, 1.0, [](Real x) { return std::log2(x); }},
    {"log10", 0.6, 1.0, [](Real x) { return std::log10(x); }},
    {"log1p", 0.6, 1.5, [](Real x) { return std::log1p(x); }},
    {"tanh", 2.6, 3.0, [](Real x) { return std::tanh(x); }},
    {"erf", 1.5, 1.5, [](Real x) { return std::erf(x); }},
    {"sin", 2.1, 1.0, [](Real x) { return std::sin(x); }},
    {"cos", 2.1, 1.0, [](Real x) { return std::cos(x); }},
    {"tan", 0.6, 2.5, [](Real x) { return std::tan(x); }},
    {"asin", 0.6, 2.5, [](Real x) { return std::asin(x); }},
    {"acos", 0.6, 2.0, [](Real x) { return std::acos(x); }},
    {"atan", 0.6, 2.0, [](Real x) { return std::atan(x); }},
    {"sinh", 0.8, 3.0, [](Real x) { return std::sinh(x); }},
    {"cosh", 0.8, 3.0, [](Real x) { return std::cosh(x); }},
    {"asinh", 0.6, 3.0, [](Real x) { return std::asinh(x); }},
    {"acosh", 0.6, 3.0, [](Real x) { return std::acosh(x); }},
    {"atanh", 0.6, 3.0, [](Real x) { return std::atanh(x); }},
    {"cbrt", 0.6, 1.0, [](Real x) { return std::cbrt(x); }},
    {"rsqrt", 1.5, 1.5, [](Real x) { return 1 / std::sqrt(x); }},
};

/// |got - expected| in units of the last place of `expected` in the format of T.
template <class T> double errorInUlp(T got, Real expected) {
  if (std::isnan(expected) || std::isnan(got)) {
    return std::isnan(expected) && std::isnan(got) ? 0 : 1e30;
  }
  T nearest = static_cast<T>(expected);
  if (std::isinf(got) || std::isinf(nearest)) {
    if (got == nearest) {
      return 0;
    }
    // Infinity stands for the first number beyond the largest.
    Real limit = std::ldexp(Real(1), std::numeric_limits<T>::max_exponent);
    Real a = std::isinf(got) ? std::copysign(limit, Real(got)) : Real(got);
    Real b = std::isinf(expected) ? std::copysign(limit * 2, expected) : expected;
    return static_cast<double>(
        std::fabs(a - b) /
        std::ldexp(Real(1), std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits));
  }
  int exponent = expected == 0
                     ? std::numeric_limits<T>::min_exponent
                     : std::max(std::ilogb(expected) + 1, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::fabs(Real(got) - expected) /
                             std::ldexp(Real(1), exponent - std::numeric_limits<T>::digits));
}

template <class T> const char *typeName() { return sizeof(T) == 4 ? "f32" : "f64"; }

template <class T>
CompiledLoops compileFunction(const std::string &op, int inputs, const std::string &architecture,
                              int lanes = sizeof(T) == 4 ? 16 : 8) {
  std::string type = typeName<T>();
  std::string value = lanes == 1 ? type : "vector<" + std::to_string(lanes) + "x" + type + ">";
  std::string operands = inputs == 2 ? "%x0, %x1" : "%x0";
  return compileLoops(elementwiseKernel(type, type, lanes, inputs,
                                        "    %y = math." + op + " " + operands + " : " + value),
                      architecture);
}

struct Worst {
  double error = 0;
  double at = 0, got = 0, expected = 0;
};

template <class T>
Worst worstError(const CompiledLoops &kernel, const std::vector<T> &x, Real (*reference)(Real)) {
  std::vector<T> y(x.size());
  kernel.call({slot(x.data()), slot(y.data()), x.size()});
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i) {
    Real expected = reference(x[i]);
    double error = errorInUlp<T>(y[i], expected);
    if (!(error <= worst.error)) {
      worst = {error, double(x[i]), double(y[i]), double(expected)};
    }
  }
  return worst;
}

/// Prime, so that it meets no pattern; NEREID_TEST_FLOAT_STRIDE=1 proves the bounds on all floats.
uint32_t floatStride() {
  const char *wanted = std::getenv("NEREID_TEST_FLOAT_STRIDE");
  return wanted ? std::max(1, std::atoi(wanted)) : 4093;
}

/// The worst error over every `stride`-th bit pattern, in blocks that fit into memory.
Worst worstOverFloats(const CompiledLoops &kernel, uint32_t stride, Real (*reference)(Real)) {
  Worst worst;
  std::vector<float> block;
  auto flush = [&] {
    block.resize((block.size() + 15) / 16 * 16, 1.0f);
    Worst found = worstError(kernel, block, reference);
    worst = found.error > worst.error ? found : worst;
    block.clear();
  };
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += stride) {
    block.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    if (block.size() == 1 << 16) {
      flush();
    }
  }
  flush();
  return worst;
}

std::vector<double> sampleDoubles(size_t perRange) {
  std::mt19937_64 random(20);
  std::vector<double> x;
  for (size_t i = 0; i < perRange; ++i) {
    x.push_back(std::bit_cast<double>(random()));
  }
  for (double range : {0.5, 1.0, 3.0, 20.0, 800.0, 2e6}) {
    std::uniform_real_distribution<double> values(-range, range);
    for (size_t i = 0; i < perRange; ++i) {
      x.push_back(values(random));
    }
  }
  std::uniform_real_distribution<double> nearOne(0.5, 2.0);
  for (size_t i = 0; i < perRange; ++i) {
    x.push_back(nearOne(random));
  }
  return x;
}

class MathBounds : public testing::TestWithParam<std::tuple<Function, const char *>> {};

TEST_P(MathBounds, Float32) {
  const auto &[function, architecture] = GetParam();
  CompiledLoops kernel = compileFunction<float>(function.op, 1, architecture);
  ASSERT_EQ(kernel.error, "");
  Worst worst = worstOverFloats(kernel, floatStride(), function.reference);
  EXPECT_LE(worst.error, function.bound32)
      << function.op << "(" << worst.at << ") = " << worst.got << ", not " << worst.expected;
  RecordProperty("ulp", std::to_string(worst.error));
}

TEST_P(MathBounds, Float64) {
  const auto &[function, architecture] = GetParam();
  CompiledLoops kernel = compileFunction<double>(function.op, 1, architecture);
  ASSERT_EQ(kernel.error, "");
  Worst worst = worstError(kernel, sampleDoubles(60000), function.reference);
  EXPECT_LE(worst.error, function.bound64)
      << function.op << "(" << worst.at << ") = " << worst.got << ", not " << worst.expected;
  RecordProperty("ulp", std::to_string(worst.error));
}

INSTANTIATE_TEST_SUITE_P(All, MathBounds,
                         testing::Combine(testing::ValuesIn(functions),
                                          testing::Values("x86-64-v3", "")),
                         [](const auto &info) {
                           std::string level = std::get<1>(info.param);
                           return std::string(std::get<0>(info.param).op) +
                                  (level.empty() ? "_host" : "_v3");
                         });

template <class T> void checkPairs(const char *op, double bound, Real (*reference)(Real, Real)) {
  CompiledLoops kernel = compileFunction<T>(op, 2, "");
  ASSERT_EQ(kernel.error, "");
  std::mt19937_64 random(30);
  std::vector<T> a, b;
  std::uniform_real_distribution<double> exponent(-1, 1), base(0.5, 2);
  for (int i = 0; i < 400000; ++i) {
    if (i % 4 == 0) {
      uint64_t bits = random(), more = random();
      a.push_back(sizeof(T) == 4 ? T(std::bit_cast<float>(uint32_t(bits)))
                                 : T(std::bit_cast<double>(bits)));
      b.push_back(sizeof(T) == 4 ? T(std::bit_cast<float>(uint32_t(more)))
                                 : T(std::bit_cast<double>(more)));
    } else if (i % 4 == 1) {
      a.push_back(T(base(random)));
      b.push_back(T(exponent(random) * (sizeof(T) == 4 ? 200 : 1500)));
    } else if (i % 4 == 2) {
      a.push_back(T(std::exp(exponent(random) * 20)));
      b.push_back(T(exponent(random) * 20));
    } else {
      a.push_back(T(exponent(random) * 100));
      b.push_back(T(int(exponent(random) * 40)));
    }
  }
  const T inf = INFINITY,
          specials[] = {T(0.0), T(-0.0), T(1), T(-1), T(0.5), T(-0.5),  T(2),      T(3),
                        T(-2),  T(-3),   inf,  -inf,  T(NAN), T(1e-40), T(-1e-40), T(1e30)};
  for (T first : specials) {
    for (T second : specials) {
      a.push_back(first);
      b.push_back(second);
    }
  }
  std::vector<T> y(a.size());
  kernel.call({slot(a.data()), slot(b.data()), slot(y.data()), a.size()});
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    Real expected = reference(a[i], b[i]);
    double error = errorInUlp<T>(y[i], expected);
    worst = std::max(worst, error);
    ASSERT_LE(error, bound) << op << "(" << a[i] << ", " << b[i] << ") = " << y[i] << ", not "
                            << double(expected);
    if (!std::isnan(expected)) {
      ASSERT_EQ(std::signbit(y[i]), std::signbit(expected)) << op << a[i] << " " << b[i];
    }
  }
  testing::Test::RecordProperty("ulp", std::to_string(worst));
}

Real power(Real x, Real y) { return std::pow(x, y); }
Real angle(Real y, Real x) { return std::atan2(y, x); }

TEST(MathPairs, Pow32) { checkPairs<float>("powf", 0.6, power); }
TEST(MathPairs, Pow64) { checkPairs<double>("powf", 1.5, power); }
TEST(MathPairs, Atan2Of32) { checkPairs<float>("atan2", 0.6, angle); }
TEST(MathPairs, Atan2Of64) { checkPairs<double>("atan2", 2.5, angle); }

/// Quotients around those where the reduction changes, and numbers where float32 gives way to
/// float64.
TEST(MathPairs, Atan2OfSinglesWhereItsFormsMeet) {
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> base(1, 2), near(-1e-3, 1e-3);
  std::vector<float> a, b;
  for (double quotient : {0.25, 0.5, 1.0, 2.0, 4.0, 1e-3, 0x1p-66, 0x1p-122}) {
    for (double scale : {1.0, 0x1p-66, 0x1p56, 0x1p-100, 0x1p125}) {
      for (int i = 0; i < 4000; ++i) {
        const double x = base(random) * scale, y = x * quotient * (1 + near(random));
        a.push_back(static_cast<float>(i & 1 ? y : -y));
        b.push_back(static_cast<float>(i & 2 ? x : -x));
      }
    }
  }
  for (const char *architecture : {"", "x86-64-v3"}) {
    CompiledLoops kernel = compileFunction<float>("atan2", 2, architecture);
    ASSERT_EQ(kernel.error, "");
    std::vector<float> y(a.size());
    kernel.call({slot(a.data()), slot(b.data()), slot(y.data()), a.size()});
    for (size_t i = 0; i < a.size(); ++i) {
      Real expected = angle(a[i], b[i]);
      ASSERT_LE(errorInUlp<float>(y[i], expected), 0.6)
          << "atan2(" << a[i] << ", " << b[i] << ") = " << y[i];
    }
  }
}

/// Products with the quotients at which the reduction changes are rounded to few bits there.
TEST(MathPairs, Atan2OfSubnormalDoubles) {
  constexpr int count = 60;
  std::vector<double> a, b;
  for (int i = 1; i <= count; ++i) {
    for (int j = 1; j <= count; ++j) {
      a.push_back((i & 1 ? 1 : -1) * i * 0x1p-1074);
      b.push_back((i & 2 ? 1 : -1) * j * 0x1p-1074);
    }
  }
  CompiledLoops kernel = compileFunction<double>("atan2", 2, "");
  ASSERT_EQ(kernel.error, "");
  std::vector<double> y(a.size());
  kernel.call({slot(a.data()), slot(b.data()), slot(y.data()), a.size()});
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_LE(errorInUlp<double>(y[i], angle(a[i], b[i])), 2.5) << a[i] << ", " << b[i];
  }
}

TEST(MathPairs, IntegerPowers) {
  CompiledLoops kernel =
      compileLoops(elementwiseKernel("f32", "f32", 8, 1,
                                     "    %e = arith.constant dense<-3> : vector<8xi32>\n"
                                     "    %y = math.fpowi %x0, %e : vector<8xf32>, vector<8xi32>"));
  ASSERT_EQ(kernel.error, "");
  float x[8] = {1, 2, -2, 0.5f, 10, -0.0f, INFINITY, 3}, y[8];
  kernel.call({slot(x), slot(y), 8});
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(y[i], static_cast<float>(std::pow(double(x[i]), -3.0))) << x[i];
  }
}

/// Zeros keep their sign, infinities and NaN come out as C says; scalars as well as vectors.
template <class T> void checkSpecials(int lanes) {
  const T inf = INFINITY;
  const T tiny = std::numeric_limits<T>::denorm_min(), least = std::numeric_limits<T>::min();
  std::vector<T> x = {T(0.0),
                      T(-0.0),
                      inf,
                      -inf,
                      T(NAN),
                      T(1),
                      T(-1),
                      tiny,
                      -tiny,
                      least,
                      -least,
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::lowest(),
                      T(0.5),
                      T(2),
                      T(-2)};
  for (const Function &function : functions) {
    CompiledLoops kernel = compileFunction<T>(function.op, 1, "", lanes);
    ASSERT_EQ(kernel.error, "");
    std::vector<T> y(x.size());
    kernel.call({slot(x.data()), slot(y.data()), x.size()});
    for (size_t i = 0; i < x.size(); ++i) {
      Real expected = function.reference(x[i]);
      EXPECT_LE(errorInUlp<T>(y[i], expected), 4)
          << function.op << "(" << x[i] << ") = " << y[i] << ", not " << double(expected);
      if (!std::isnan(expected)) {
        EXPECT_EQ(std::signbit(y[i]), std::signbit(expected)) << function.op << "(" << x[i] << ")";
      }
    }
  }
}

TEST(MathSpecials, Float32Vectors) { checkSpecials<float>(16); }
TEST(MathSpecials, Float32Narrow) { checkSpecials<float>(4); }
TEST(MathSpecials, Float32Scalars) { checkSpecials<float>(1); }
TEST(MathSpecials, Float64Vectors) { checkSpecials<double>(8); }
TEST(MathSpecials, Float64Scalars) { checkSpecials<double>(1); }

TEST(MathSpecials, WithoutFusedMultiplyAdd) {
  for (const Function &function : functions) {
    CompiledLoops kernel = compileFunction<float>(function.op, 1, "x86-64-v2", 4);
    ASSERT_EQ(kernel.error, "") << function.op;
    Worst worst = worstOverFloats(kernel, 16381, function.reference);
    EXPECT_LE(worst.error, 3) << function.op << "(" << worst.at << ") = " << worst.got << ", not "
                              << worst.expected;
  }
}

TEST(MathSpecials, ErfBetweenItsIntervals) {
  // The borders of the sixteen intervals and of the two ranges, and where 1 begins.
  std::vector<float> x;
  for (int sign : {1, -1}) {
    for (int i = 0; i < 16; ++i) {
      for (float border : {0x1.04bp-2f * (static_cast<float>(i) + 0.5f), 0.921875f, 3.9375f}) {
        float near = border;
        for (int step = 0; step < 40; ++step) {
          near = std::nextafter(near, 0.0f);
        }
        for (int step = 0; step < 80; ++step) {
          x.push_back(static_cast<float>(sign) * near);
          near = std::nextafter(near, 10.0f);
        }
      }
    }
  }
  for (const char *architecture : {"", "x86-64-v3"}) {
    CompiledLoops kernel = compileFunction<float>("erf", 1, architecture);
    ASSERT_EQ(kernel.error, "");
    Worst worst = worstError(kernel, x, [](Real value) { return std::erf(value); });
    EXPECT_LE(worst.error, 1.5) << "erf(" << worst.at << ") = " << worst.got;
    std::vector<float> large(16), y(16);
    for (int i = 0; i < 16; ++i) {
      large[static_cast<size_t>(i)] = std::ldexp(4.0f, i * 8);
    }
    large[15] = INFINITY;
    kernel.call({slot(large.data()), slot(y.data()), 16});
    EXPECT_EQ(y, std::vector<float>(16, 1.0f)) << architecture;
  }
}

TEST(MathSpecials, TanhBetweenItsIntervals) {
  std::vector<float> x;
  for (float octave = 0x1p-6f; octave < 32; octave *= 2) {
    for (float border : {octave, 1.5f * octave, 9.0109f, 9.5f}) {
      float near = border;
      for (int step = 0; step < 40; ++step) {
        near = std::nextafter(near, 0.0f);
      }
      for (int step = 0; step < 80; ++step) {
        x.push_back(step % 2 ? near : -near);
        near = std::nextafter(near, 100.0f);
      }
    }
  }
  const bool isWide = parseMachine("")->hasAvx512;
  CompiledLoops kernel = compileFunction<float>("tanh", 1, "");
  ASSERT_EQ(kernel.error, "");
  Worst worst = worstError(kernel, x, [](Real value) { return std::tanh(value); });
  EXPECT_LE(worst.error, isWide ? 1.5 : 2.6) << "tanh(" << worst.at << ") = " << worst.got;
  std::vector<float> large(16), y(16);
  for (int i = 0; i < 16; ++i) {
    large[static_cast<size_t>(i)] = -std::ldexp(9.5f, i * 8);
  }
  large[15] = -INFINITY;
  kernel.call({slot(large.data()), slot(y.data()), 16});
  EXPECT_EQ(y, std::vector<float>(16, -1.0f));
}

/// Beside the powers of two that asinh and acosh start from, and beside where they become
/// logarithms.
TEST(MathSpecials, InverseHyperbolicFunctionsWhereTheirFormsMeet) {
  std::vector<float> x{0.0f, 0x1p-149f, 0x1p-126f, 1.0f, INFINITY, NAN, -INFINITY, 0.5f};
  for (int k = 0; k < 127; ++k) {
    const double power = std::ldexp(std::sqrt(2.0), k);
    for (double border : {(power - 1 / power) / 2, (power + 1 / power) / 2, std::ldexp(1.0, k)}) {
      auto near = static_cast<float>(border * (1 - 0x1p-19));
      for (int step = 0; step < 64; ++step) {
        x.push_back(step % 2 ? near : -near);
        near = std::nextafter(near, INFINITY);
      }
    }
  }
  x.resize((x.size() + 15) / 16 * 16, 1.0f);
  for (const char *machine : {"x86-64-v3", ""}) {
    for (auto [name, reference] : {std::pair<const char *, Real (*)(Real)>{
                                       "asinh", [](Real value) { return std::asinh(value); }},
                                   {"acosh", [](Real value) { return std::acosh(value); }}}) {
      CompiledLoops kernel = compileFunction<float>(name, 1, machine);
      ASSERT_EQ(kernel.error, "");
      Worst worst = worstError(kernel, x, reference);
      EXPECT_LE(worst.error, 0.54) << name << "(" << worst.at << ") = " << worst.got;
    }
  }
}

TEST(MathSpecials, HugeAngles) {
  // The float64 nearest to a multiple of pi/2 of all (Muller, Elementary Functions, table 11.1),
  // and neighbours of large multiples.
  std::vector<double> x = {6381956970095103.0 * 0x1p797,
                           -6381956970095103.0 * 0x1p797,
                           0x1p1023,
                           1.7976931348623157e308,
                           0x1p20,
                           0x1.8p21,
                           1e22,
                           5e-324};
  for (const char *op : {"sin", "cos", "tan"}) {
    CompiledLoops kernel = compileFunction<double>(op, 1, "");
    ASSERT_EQ(kernel.error, "");
    std::vector<double> y(8);
    kernel.call({slot(x.data()), slot(y.data()), 8});
    for (size_t i = 0; i < x.size(); ++i) {
      Real expected = *op == 's'   ? std::sin(Real(x[i]))
                      : *op == 'c' ? std::cos(Real(x[i]))
                                   : std::tan(Real(x[i]));
      EXPECT_LE(errorInUlp<double>(y[i], expected), 2.5) << op << "(" << x[i] << ") = " << y[i];
    }
  }
}

} // namespace
} // namespace nereid::cpu::test
