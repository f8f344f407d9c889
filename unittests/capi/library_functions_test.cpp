// SPDX-License-Identifier: Apache-2.0
// Functions of the kernel language's library that are computed by pairs of float32 numbers, on
// samples of all float32 numbers and on the ranges where their forms meet, within the ulp that
// docs/math.md promises of the exact result. The references are formulas in long double.
#include "nereid/nereid.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

namespace {

using Real = long double;

/// |got - expected| in units of the last place of float32 at `expected`.
double errorInUlp(float got, Real expected) {
  if (std::isnan(expected) || std::isnan(got)) {
    return std::isnan(expected) && std::isnan(got) ? 0 : 1e30;
  }
  if (std::isinf(got) || std::isinf(static_cast<float>(expected))) {
    return got == static_cast<float>(expected) ? 0 : 1e30;
  }
  const int exponent = expected == 0 ? -125 : std::max(std::ilogb(expected) + 1, -125);
  return static_cast<double>(std::fabs(got - expected) / std::ldexp(Real(1), exponent - 24));
}

/// Halley's steps from the root of a rough bound.
Real inverseErrorFunction(Real x) {
  const Real size = std::fabs(x);
  if (!(size < 1)) {
    return size == 1 ? std::copysign(INFINITY, x) : NAN;
  }
  const Real w = -std::log1p(-size * size);
  Real y = size * (w < 5 ? 1.5L + 0.2466L * (w - 2.5L) : std::sqrt(w) - 0.17L);
  for (int i = 0; i < 8; ++i) {
    const Real miss = size < 0.5L ? std::erf(y) - size : (1 - size) - std::erfc(y);
    const Real step = miss / (1.1283791670955125738961589031215452L * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

Real modifiedBessel(Real x) {
  x = std::fabs(x);
  if (x < 20) {
    Real term = 1, sum = 1;
    for (int k = 1; k < 90; ++k) {
      term *= x * x / 4 / (Real(k) * k);
      sum += term;
    }
    return sum;
  }
  if (!(x < 100)) {
    return std::isnan(x) ? x : INFINITY;
  }
  Real term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) {
    term *= Real(2 * k - 1) * (2 * k - 1) / (8 * x * k);
    sum += term;
  }
  return std::exp(x) / std::sqrt(2 * std::acos(Real(-1)) * x) * sum;
}

struct Function {
  const char *name;
  Real (*reference)(Real);
  double bound;
  std::vector<std::pair<float, float>> ranges; ///< sampled more densely
};

const Function functions[] = {
    {"erfc", [](Real x) { return std::erfc(x); }, 1.8, {{-4.0f, 4.0f}, {0, 0.01f}, {1, 10.5f}}},
    {"erfinv", inverseErrorFunction, 1.2, {{0.01f, 1.0f}, {0.999f, 1.0f}, {-1.0f, -0.9f}}},
    {"lgamma",
     [](Real x) { return ::lgammal(x); },
     1,
     {{-11, 4}, {0.9f, 2.1f}, {-4, -2}, {-2.49f, -2.42f}, {-2.78f, -2.71f}}},
    {"cyl_bessel_i0", modifiedBessel, 0.6, {{0.1f, 6.0f}, {2.5f, 3.5f}, {6, 95}}},
};

class LibraryFunctions : public testing::TestWithParam<Function> {};

std::vector<float> samples(const Function &function) {
  const char *wanted = std::getenv("NEREID_TEST_FLOAT_STRIDE");
  const uint64_t stride = wanted ? std::max(1, std::atoi(wanted)) : 65521;
  std::vector<float> x = {0.0f, -0.0f,       INFINITY, -INFINITY, NAN, 1,
                          -1,   1e-45f,      -1e-45f,  3.4e38f,   -2,  -3,
                          -100, -8388608.0f, -1e25f,   -3.4e38f};
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += stride) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (float zero : {-2.4570248f, -2.7476826f}) { // of lgamma
    float near = zero - 50 * 0x1p-22f;
    for (int i = 0; i < 100; ++i) {
      x.push_back(near);
      near = std::nextafter(near, 0.0f);
    }
  }
  for (auto [low, high] : function.ranges) {
    for (int i = 0; i < 30000; ++i) {
      x.push_back(low + (high - low) * static_cast<float>(i) / 30000);
    }
  }
  x.resize((x.size() + 1023) / 1024 * 1024, 0.5f);
  return x;
}

TEST_P(LibraryFunctions, AreWithinTheirBoundsInFloat32) {
  const Function &function = GetParam();
  const std::string source =
      "import triton\nimport triton.language as tl\n"
      "from triton.language.extra import libdevice\n@triton.jit\ndef kernel(x, out):\n"
      "    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)\n"
      "    tl.store(out + i, libdevice." +
      std::string(function.name) + "(tl.load(x + i)))\n";
  std::vector<float> x = samples(function), out(x.size());
  const auto count = static_cast<int64_t>(x.size() / 1024);
  nereid::Kernel::loadSource(source, "", "*fp32, *fp32")
      .launch({count}, nereid::Tensor::borrow(x), nereid::Tensor::borrow(out));
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Real expected = function.reference(x[i]);
    const double error = errorInUlp(out[i], expected);
    if (!(error <= worst)) {
      worst = error;
      at = i;
    }
    if (!std::isnan(expected)) {
      ASSERT_EQ(std::signbit(out[i]), std::signbit(expected)) << function.name << " " << x[i];
    }
  }
  EXPECT_LE(worst, function.bound) << function.name << "(" << x[at] << ") = " << out[at];
  RecordProperty("ulp", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(All, LibraryFunctions, testing::ValuesIn(functions),
                         [](const auto &info) { return std::string(info.param.name); });

/// What is only rounded to 16 bits need not be right in more: within 2^-16 before.
TEST(LibraryFunctionsOfHalves, ErfinvIsWithinItsBoundBeforeItIsRounded) {
  for (const auto &[type, digits, least] :
       {std::tuple("float16", 11, -13), {"bfloat16", 8, -125}}) {
    const std::string source =
        "import triton\nimport triton.language as tl\n"
        "from triton.language.extra import libdevice\n@triton.jit\ndef kernel(x, out):\n"
        "    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)\n"
        "    y = libdevice.erfinv(tl.load(x + i)).to(tl." +
        std::string(type) + ")\n    tl.store(out + i, y.to(tl.float32))\n";
    std::vector<float> x = samples(functions[1]), out(x.size());
    nereid::Kernel::loadSource(source, "", "*fp32, *fp32")
        .launch({static_cast<int64_t>(x.size() / 1024)}, nereid::Tensor::borrow(x),
                nereid::Tensor::borrow(out));
    const double bound = 0.5 + std::ldexp(1.0, digits - 16);
    for (size_t i = 0; i < x.size(); ++i) {
      const Real expected = inverseErrorFunction(x[i]);
      if (std::isnan(expected) || std::isinf(expected)) {
        ASSERT_EQ(std::isnan(out[i]), std::isnan(expected)) << x[i];
        ASSERT_TRUE(std::isnan(out[i]) || out[i] == static_cast<float>(expected)) << x[i];
        continue;
      }
      const int exponent = expected == 0 ? least : std::max(std::ilogb(expected) + 1, least);
      ASSERT_LE(std::fabs(out[i] - expected), std::ldexp(Real(bound), exponent - digits))
          << "erfinv(" << x[i] << ") = " << out[i] << " in " << type;
      ASSERT_EQ(std::signbit(out[i]), std::signbit(expected)) << x[i];
    }
  }
}

struct DoubleFunction {
  const char *name;
  Real (*reference)(Real);
  double bound;        ///< ulp
  double absolute = 0; ///< besides
};

class DoubleLibraryFunctions : public testing::TestWithParam<DoubleFunction> {};

/// Numbers of every exponent, subnormal ones with them.
TEST_P(DoubleLibraryFunctions, AreWithinTheirBoundsAtAllMagnitudes) {
  const DoubleFunction &function = GetParam();
  const std::string source =
      "import triton\nimport triton.language as tl\n"
      "from triton.language.extra import libdevice\n@triton.jit\ndef kernel(x, out):\n"
      "    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)\n"
      "    tl.store(out + i, libdevice." +
      std::string(function.name) + "(tl.load(x + i)))\n";
  std::vector<double> x;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> mantissa(1, 2);
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    for (int i = 0; i < 8; ++i) {
      x.push_back(std::ldexp(i % 2 ? -mantissa(random) : mantissa(random), exponent));
    }
  }
  x.resize((x.size() + 1023) / 1024 * 1024, 0.5);
  std::vector<double> out(x.size());
  nereid::Kernel::loadSource(source, "", "*fp64, *fp64")
      .launch({static_cast<int64_t>(x.size() / 1024)}, nereid::Tensor::borrow(x),
              nereid::Tensor::borrow(out));
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Real expected = function.reference(x[i]);
    const auto rounded = static_cast<double>(expected);
    double error = 0;
    if (std::isnan(expected) || std::isnan(out[i])) {
      error = std::isnan(expected) && std::isnan(out[i]) ? 0 : 1e30;
    } else if (std::isinf(out[i]) || std::isinf(rounded)) {
      // The largest number may become infinite, within the bound.
      const double other = std::isinf(rounded) ? std::fabs(out[i]) : std::fabs(rounded);
      error = out[i] == rounded || other > 0x1.fffffffffff00p1023 ? 0 : 1e30;
    } else {
      const int exponent = expected == 0 ? -1021 : std::max(std::ilogb(expected) + 1, -1021);
      const Real beyond = std::max(std::fabs(out[i] - expected) - function.absolute, Real(0));
      error = static_cast<double>(beyond / std::ldexp(Real(1), exponent - 53));
    }
    if (!(error <= worst)) {
      worst = error;
      at = i;
    }
  }
  EXPECT_LE(worst, function.bound)
      << function.name << "(" << x[at] << ") = " << out[at] << ", exactly "
      << static_cast<double>(function.reference(x[at]));
  RecordProperty("ulp", std::to_string(worst));
}

const DoubleFunction doubleFunctions[] = {
    {"exp", [](Real x) { return std::exp(x); }, 4},
    {"exp2", [](Real x) { return std::exp2(x); }, 4},
    {"expm1", [](Real x) { return std::expm1(x); }, 4},
    {"log", [](Real x) { return std::log(x); }, 4},
    {"log2", [](Real x) { return std::log2(x); }, 4},
    {"log10", [](Real x) { return std::log10(x); }, 4},
    {"log1p", [](Real x) { return std::log1p(x); }, 4},
    {"sin", [](Real x) { return std::sin(x); }, 4},
    {"cos", [](Real x) { return std::cos(x); }, 4},
    {"tan", [](Real x) { return std::tan(x); }, 4},
    {"asin", [](Real x) { return std::asin(x); }, 4},
    {"acos", [](Real x) { return std::acos(x); }, 4},
    {"atan", [](Real x) { return std::atan(x); }, 4},
    {"sinh", [](Real x) { return std::sinh(x); }, 4},
    {"cosh", [](Real x) { return std::cosh(x); }, 4},
    {"tanh", [](Real x) { return std::tanh(x); }, 4},
    {"asinh", [](Real x) { return std::asinh(x); }, 4},
    {"acosh", [](Real x) { return std::acosh(x); }, 4},
    {"atanh", [](Real x) { return std::atanh(x); }, 4},
    {"erf", [](Real x) { return std::erf(x); }, 4},
    {"erfc", [](Real x) { return std::erfc(x); }, 16},
    {"erfinv", inverseErrorFunction, 16},
    {"lgamma", [](Real x) { return ::lgammal(x); }, 4, 1e-14},
    {"tgamma", [](Real x) { return ::tgammal(x); }, 32},
    {"sqrt", [](Real x) { return std::sqrt(x); }, 0.5},
    {"rsqrt", [](Real x) { return 1 / std::sqrt(x); }, 2},
    {"cbrt", [](Real x) { return std::cbrt(x); }, 2},
};

INSTANTIATE_TEST_SUITE_P(All, DoubleLibraryFunctions, testing::ValuesIn(doubleFunctions),
                         [](const auto &info) { return std::string(info.param.name); });

/// All exponents against all others near them, subnormal results, and what is no number.
std::pair<std::vector<float>, std::vector<float>> sides() {
  std::vector<float> x, y;
  std::mt19937 random(3);
  for (int i = 0; i < 400000; ++i) {
    const auto bits = static_cast<uint32_t>(random()), more = static_cast<uint32_t>(random());
    x.push_back(std::bit_cast<float>(bits));
    const int exponent = static_cast<int>(more % 41) - 20;
    const float near = 1 + static_cast<float>(more >> 9) * 0x1p-23f;
    y.push_back(i % 4 == 0 ? std::bit_cast<float>(more) : std::ldexp(x.back() * near, exponent));
  }
  for (float first : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, 3e38f, 0x1p-126f}) {
    for (float second : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, 3e38f, 0x1p-127f}) {
      x.push_back(first);
      y.push_back(second);
    }
  }
  x.resize((x.size() + 1023) / 1024 * 1024, 3);
  y.resize(x.size(), 4);
  return {x, y};
}

/// hypot of the sides, converted to a type and back.
std::vector<float> lengths(std::vector<float> &x, std::vector<float> &y, const std::string &type) {
  const std::string source =
      "import triton\nimport triton.language as tl\n"
      "from triton.language.extra import libdevice\n@triton.jit\ndef kernel(x, y, out):\n"
      "    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)\n"
      "    length = libdevice.hypot(tl.load(x + i), tl.load(y + i))\n"
      "    tl.store(out + i, length.to(tl." +
      type + ").to(tl.float32))\n";
  std::vector<float> out(x.size());
  nereid::Kernel::loadSource(source, "", "*fp32, *fp32, *fp32")
      .launch({static_cast<int64_t>(x.size() / 1024)}, nereid::Tensor::borrow(x),
              nereid::Tensor::borrow(y), nereid::Tensor::borrow(out));
  return out;
}

TEST(LibraryFunctionsOfTwo, HypotIsWithinItsBoundInFloat32) {
  auto [x, y] = sides();
  const std::vector<float> out = lengths(x, y, "float32");
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(errorInUlp(out[i], std::hypot(Real(x[i]), Real(y[i]))), 0.6)
        << "hypot(" << x[i] << ", " << y[i] << ") = " << out[i];
  }
}

TEST(LibraryFunctionsOfHalves, HypotIsWithinItsBoundBeforeItIsRounded) {
  auto [x, y] = sides();
  for (const auto &[type, digits, least, largest] :
       {std::tuple("float16", 11, -13, 65520.0), {"bfloat16", 8, -125, 0x1.ffp127}}) {
    const std::vector<float> out = lengths(x, y, type);
    const double bound = 0.5 + std::ldexp(1.0, digits - 16);
    for (size_t i = 0; i < x.size(); ++i) {
      const Real exact = std::hypot(Real(x[i]), Real(y[i]));
      if (std::isnan(exact) || exact >= largest) {
        ASSERT_EQ(std::isnan(out[i]), std::isnan(exact)) << x[i] << " " << y[i];
        ASSERT_TRUE(std::isnan(exact) || std::isinf(out[i])) << x[i] << " " << y[i] << type;
        continue;
      }
      const int exponent = exact == 0 ? least : std::max(std::ilogb(exact) + 1, least);
      const Real unit = std::ldexp(Real(1), exponent - digits);
      // The largest number's neighbour may have become infinite.
      const Real got = std::isinf(out[i]) ? Real(largest) : Real(out[i]);
      ASSERT_LE(std::fabs(got - exact), bound * unit)
          << "hypot(" << x[i] << ", " << y[i] << ") = " << out[i] << " in " << type;
    }
  }
}

} // namespace
