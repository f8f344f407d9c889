// SPDX-License-Identifier: Apache-2.0
// Reductions behind the end of a mask: zeros and extrema are taken once, other values for each
// element.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

LoweredKernel reductionOf(const std::string &reduction, const std::string &value,
                          const std::string &other, const std::string &architecture,
                          const std::string &dtype = "fp32") {
  return lowerSource("\n@triton.jit\ndef kernel(out, x, n, BLOCK: tl.constexpr):\n"
                     "    o = tl.arange(0, BLOCK)\n"
                     "    v = tl.load(x + o, mask=o < n, other=" +
                         other + ")\n    tl.store(out, tl." + reduction + "(" + value +
                         ", axis=0))\n",
                     "*" + dtype + ", *" + dtype + ", i32, 1024", architecture);
}

LoweredKernel sumOf(const std::string &value, const std::string &other,
                    const std::string &architecture = "x86-64-v4",
                    const std::string &dtype = "fp32") {
  return reductionOf("sum", value, other, architecture, dtype);
}

size_t loopsOf(const std::string &value, const std::string &other,
               const std::string &dtype = "fp32") {
  return countOf(sumOf(value, other, "x86-64-v4", dtype).loops, "scf.for");
}

/// Whole vectors, the vector in which the mask ends, and what lies behind it.
TEST(NestOutside, ZerosNeedNoLoop) {
  EXPECT_EQ(loopsOf("v", "1"), 3u);
  EXPECT_EQ(loopsOf("v", "0"), 2u);
  EXPECT_EQ(loopsOf("v", "-0.0"), 2u);
  EXPECT_EQ(loopsOf("v * v", "0"), 2u);
  EXPECT_EQ(loopsOf("v * v + 1", "0"), 3u);
  EXPECT_EQ(loopsOf("v", "0", "i32"), 2u);
  EXPECT_EQ(loopsOf("v.to(tl.float32) * 2", "0", "bf16"), 2u);
}

TEST(NestOutside, SumsAreThoseOfAllElements) {
  for (const std::string &architecture : runnableArchitectures()) {
    for (const auto &[value, other, behind] :
         {std::tuple("v * v", "0", 0.0f), {"v", "2", 2.0f}, {"v * 3 - 6", "2", 0.0f}}) {
      LoweredKernel kernel = sumOf(value, other, architecture);
      ASSERT_EQ(kernel.error, "");
      for (int64_t n : {0, 1, 15, 64, 1000, 1023, 1024}) {
        std::vector<float> x(1024, 1e30f);
        float expected = behind * static_cast<float>(1024 - n), out = -1;
        for (int64_t i = 0; i < n; ++i) {
          const float v = static_cast<float>(i * 7 % 19) - 9;
          x[i] = v;
          expected += value == std::string("v * v") ? v * v
                      : value == std::string("v")   ? v
                                                    : v * 3 - 6;
        }
        ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&out), address(x.data()), number(n)}));
        EXPECT_EQ(out, expected) << value << ", " << n << " elements on " << architecture;
      }
    }
  }
}

/// The constant counts where something lies behind the mask, and nowhere else.
TEST(NestOutside, ExtremaMeetTheConstantOnlyWhereItStands) {
  for (const std::string &architecture : runnableArchitectures()) {
    for (const auto &[reduction, other, constant] :
         {std::tuple("max", "20", 20.0f), {"max", "-20", -20.0f}, {"min", "-20", -20.0f}}) {
      LoweredKernel kernel = reductionOf(reduction, "v", other, architecture);
      ASSERT_EQ(kernel.error, "");
      for (int64_t n : {0, 1, 15, 64, 1000, 1009, 1023, 1024}) {
        std::vector<float> x(1024, std::numeric_limits<float>::quiet_NaN());
        const bool isMax = reduction == std::string("max");
        float expected = n < 1024 ? constant : isMax ? -1e30f : 1e30f, out = -1;
        for (int64_t i = 0; i < n; ++i) {
          x[i] = static_cast<float>(i * 7 % 19) - 9;
          expected = isMax ? std::max(expected, x[i]) : std::min(expected, x[i]);
        }
        ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&out), address(x.data()), number(n)}));
        EXPECT_EQ(out, expected) << reduction << " " << other << ", " << n << " elements on "
                                 << architecture;
      }
    }
  }
}

/// What is behind the mask is computed from constants, one of which is NaN.
TEST(NestOutside, NumbersBesideNaN) {
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = reductionOf("min", "tl.maximum(v, tl.full((BLOCK,), 0.5, tl.float32))",
                                       "float('nan')", architecture);
    ASSERT_EQ(kernel.error, "");
    std::vector<float> x(1024, 2);
    for (int64_t n : {0, 64, 100, 1023, 1024}) {
      float out = -1;
      ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&out), address(x.data()), number(n)}));
      EXPECT_EQ(out, n < 1024 ? 0.5f : 2.0f) << n << " elements on " << architecture;
    }
  }
}

/// Negative zeros add up to a negative one, unless a positive one is among them.
TEST(NestOutside, SignsOfZeros) {
  for (const auto &[other, isNegative] : {std::pair("-0.0", true), {"0.0", false}}) {
    LoweredKernel kernel = sumOf("v", other);
    ASSERT_EQ(kernel.error, "");
    std::vector<float> x(1024, -0.0f);
    float out = -1;
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&out), address(x.data()), number(100)}));
    EXPECT_EQ(out, 0.0f);
    EXPECT_EQ(std::signbit(out), isNegative) << other;
  }
}

} // namespace
