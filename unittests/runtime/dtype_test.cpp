// SPDX-License-Identifier: Apache-2.0
// Element types: names, and the 16-bit conversions over all patterns. The references use the
// definition of the formats (value = significand × 2^exponent) and exact search, not bit tricks.
#include "runtime/elements/DType.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace nereid;

namespace {

/// Value of a 16-bit format by its definition.
double valueOf(uint16_t bits, int mantissaBits, int bias) {
  const int exponentBits = 15 - mantissaBits;
  const int exponent = bits >> mantissaBits & ((1 << exponentBits) - 1);
  const int mantissa = bits & ((1 << mantissaBits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  return exponent == 0
             ? sign * std::ldexp(mantissa, 1 - bias - mantissaBits)
             : sign * std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
}

struct Format {
  int mantissaBits, bias;
  uint16_t (*to)(double);
  float (*from)(uint16_t);
};
constexpr Format half = {10, 15, toHalf, fromHalf};
constexpr Format brain = {7, 127, toBFloat16, fromBFloat16};

class SixteenBits : public ::testing::TestWithParam<Format> {};

TEST_P(SixteenBits, AllPatternsReadByDefinitionAndRoundTrip) {
  const Format format = GetParam();
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const uint16_t bits = static_cast<uint16_t>(pattern);
    const double expected = valueOf(bits, format.mantissaBits, format.bias);
    const double actual = format.from(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual));
      ASSERT_TRUE(std::isnan(format.from(format.to(actual))));
      continue;
    }
    ASSERT_EQ(actual, expected) << pattern;
    ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << pattern;
    ASSERT_EQ(format.to(actual), bits);
  }
}

TEST_P(SixteenBits, RoundsToNearestEvenBetweenAllNeighbours) {
  const Format format = GetParam();
  const uint16_t infinity = static_cast<uint16_t>(0x7FFF & ~((1 << format.mantissaBits) - 1));
  for (uint16_t bits = 0; bits + 1 < infinity; ++bits) {
    const double low = valueOf(bits, format.mantissaBits, format.bias);
    const double high = valueOf(bits + 1, format.mantissaBits, format.bias);
    const double middle = (low + high) / 2; // exact
    const uint16_t next = bits + 1, even = bits & 1 ? next : bits;
    ASSERT_EQ(format.to(middle), even) << bits;
    ASSERT_EQ(format.to(std::nextafter(middle, 0)), bits) << bits;
    ASSERT_EQ(format.to(std::nextafter(middle, INFINITY)), next) << bits;
    ASSERT_EQ(format.to(-middle), even | 0x8000) << bits;
  }
}

TEST_P(SixteenBits, OverflowsToInfinityFromHalfAStepAboveTheLargest) {
  const Format format = GetParam();
  const uint16_t infinity = static_cast<uint16_t>(0x7FFF & ~((1 << format.mantissaBits) - 1));
  const double largest = valueOf(infinity - 1, format.mantissaBits, format.bias);
  const double limit =
      largest + (largest - valueOf(infinity - 2, format.mantissaBits, format.bias)) / 2;
  EXPECT_EQ(format.to(std::nextafter(limit, 0)), infinity - 1);
  EXPECT_EQ(format.to(limit), infinity);
  EXPECT_EQ(format.to(-1e300), infinity | 0x8000);
  EXPECT_EQ(format.to(1e-300), 0);
  EXPECT_EQ(format.to(-5e-324), 0x8000);
  EXPECT_EQ(format.to(-0.0), 0x8000);
  EXPECT_EQ(format.to(INFINITY), infinity);
}

INSTANTIATE_TEST_SUITE_P(Formats, SixteenBits, ::testing::Values(half, brain));

TEST(DType, SingleRoundingFromDouble) {
  // 1 + 2^-11 + 2^-40 is above the middle of two halves; through float32 it would become the
  // middle.
  EXPECT_EQ(toHalf(1 + std::ldexp(1, -11) + std::ldexp(1, -40)), 0x3C01);
  EXPECT_EQ(toBFloat16(1 + std::ldexp(1, -8) + std::ldexp(1, -40)), 0x3F81);
}

TEST(DType, EveryNameIsReadBack) {
  for (int i = 0; i < dtypeCount; ++i) {
    const DType type = static_cast<DType>(i);
    EXPECT_EQ(parseDType(kernelName(type)), type);
    EXPECT_EQ(parseDType(torchName(type)), type);
    EXPECT_EQ(isFloat(type) + isSignedInteger(type) + isUnsignedInteger(type),
              type == DType::Bool ? 0 : 1);
  }
  EXPECT_EQ(parseDType("f32"), DType::F32);
  EXPECT_EQ(parseDType("fp32"), DType::F32);
  EXPECT_EQ(parseDType("bfloat16"), DType::BF16);
  for (const char *unknown : {"", "float", "int", "fp8", "fp8e4b14", "F32", "float32 "}) {
    EXPECT_EQ(parseDType(unknown), std::nullopt) << unknown;
  }
}

template <class T> T stored(DType type, double value) {
  T out{};
  EXPECT_EQ(sizeof(T), sizeInBytes(type));
  storeFromDouble(&out, type, value);
  return out;
}

TEST(DType, IntegersWrap) {
  EXPECT_EQ(stored<int8_t>(DType::I8, 200), -56);
  EXPECT_EQ(stored<uint8_t>(DType::U8, -1), 255);
  EXPECT_EQ(stored<int32_t>(DType::I32, 4294967296.0 + 5), 5);
  EXPECT_EQ(stored<uint64_t>(DType::U64, 18446744073709549568.0), 18446744073709549568ull);
  EXPECT_EQ(stored<int64_t>(DType::I64, -9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(stored<int32_t>(DType::I32, 2.5), 2);
  EXPECT_EQ(stored<int32_t>(DType::I32, 3.5), 4);
  EXPECT_EQ(stored<int32_t>(DType::I32, NAN), 0);
  EXPECT_EQ(stored<uint8_t>(DType::Bool, 0.25), 1);
  EXPECT_EQ(stored<uint8_t>(DType::Bool, -0.0), 0);
}

} // namespace
