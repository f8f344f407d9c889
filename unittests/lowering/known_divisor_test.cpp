// SPDX-License-Identifier: Apache-2.0
// Quotients by numbers that are known, bit for bit those of the processor's division.
#include "lib/lowering/KnownDivisor.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace nereid::lowering {
namespace {

float byKnown(float x, const KnownDivisor &divisor) {
  const volatile float product = x * divisor.low; // rounded by itself
  return std::fma(x, divisor.high, float(product));
}

bool isSame(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

constexpr float usual[] = {3,     6,      -6,    7,          10,         12,           49,    127,
                           255,   1000,   0.1F,  -0.3F,      1.1F,       0.044715F,    0.88F, 2e10F,
                           1e-3F, 1e-17F, 1e17F, 3.1415927F, 1.4142135F, 0x1.000002p0F};

TEST(KnownDivisor, EveryMantissaIsRoundedAsByADivision) {
  for (const float divisor : {6.0F, -0.3F, 127.0F, 0x1.000002p0F}) {
    const auto known = knownDivisor(divisor);
    ASSERT_TRUE(known) << divisor;
    for (uint32_t mantissa = 0; mantissa < 1U << 23; ++mantissa) {
      const auto x = std::bit_cast<float>((127U << 23) | mantissa);
      ASSERT_TRUE(isSame(byKnown(x, *known), x / divisor)) << x << " / " << divisor;
    }
  }
}

TEST(KnownDivisor, EverySizeFromTheLeastOnIsTaken) {
  std::mt19937 numbers(1);
  for (const float divisor : usual) {
    const auto known = knownDivisor(divisor);
    ASSERT_TRUE(known) << divisor;
    EXPECT_LE(known->least, 0x1p-30F) << divisor;
    for (int i = 0; i < 300000; ++i) {
      const auto x = std::bit_cast<float>(static_cast<uint32_t>(numbers()));
      if (!(std::abs(x) < known->least)) {
        ASSERT_TRUE(isSame(byKnown(x, *known), x / divisor)) << x << " / " << divisor;
      }
    }
    for (uint32_t i = 0; i < 4096; ++i) { // the first ones
      const auto x = std::bit_cast<float>(std::bit_cast<uint32_t>(known->least) + i * 2047);
      ASSERT_TRUE(isSame(byKnown(x, *known), x / divisor)) << x << " / " << divisor;
    }
  }
}

TEST(KnownDivisor, ZerosInfinitiesAndWhatOverflowsAreTaken) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float most = std::numeric_limits<float>::max();
  for (const float divisor : usual) {
    const auto known = knownDivisor(divisor);
    ASSERT_TRUE(known);
    for (const float x : {0.0F, -0.0F, infinity, -infinity, most, -most, most / 2,
                          most * std::abs(divisor), std::nanf("")}) {
      EXPECT_TRUE(isSame(byKnown(x, *known), x / divisor)) << x << " / " << divisor;
    }
  }
}

TEST(KnownDivisor, TinyNumbersAreNot) {
  const auto known = knownDivisor(6);
  ASSERT_TRUE(known);
  int wrong = 0;
  for (uint32_t bits = 1; bits < 1000; ++bits) {
    const auto x = std::bit_cast<float>(bits);
    wrong += isSame(byKnown(x, *known), x / 6) ? 0 : 1;
  }
  EXPECT_GT(wrong, 0) << "why there is a least number";
}

TEST(KnownDivisor, SomeNumbersHaveNoSuchSum) {
  for (const float divisor : {0.0F, 1.0F, 8.0F, 0.25F, 1e-40F, 1e20F, 1e-20F,
                              std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_FALSE(knownDivisor(divisor)) << divisor;
  }
  EXPECT_FALSE(knownDivisor(0.7F)) << "a quotient next to the middle of two";
  int found = 0;
  for (uint32_t i = 0; i < 1000; ++i) {
    found += knownDivisor(std::bit_cast<float>((127U << 23) | (i * 8191 + 1))) ? 1 : 0;
  }
  EXPECT_GT(found, 900);
  EXPECT_LT(found, 950);
}

} // namespace
} // namespace nereid::lowering
