// SPDX-License-Identifier: Apache-2.0
// 8-bit floats: all codes both ways, all midpoints between neighbours, saturation, NaN and signed
// zero. The reference is the definition of the formats: (-1)^s × significand × 2^exponent.
#include "runtime/elements/Float8.h"

#include "runtime/tensor/Tensor.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace nereid;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Format {
  DType type;
  int mantissaBits, bias;
  bool isIeee, isFnuz;
  double largest, smallest; ///< largest finite, smallest above zero, from the formats' papers
};

constexpr Format formats[] = {{DType::F8E4M3FN, 3, 7, false, false, 448, 0x1p-9},
                              {DType::F8E5M2, 2, 15, true, false, 57344, 0x1p-16},
                              {DType::F8E4M3FNUZ, 3, 8, false, true, 240, 0x1p-10},
                              {DType::F8E5M2FNUZ, 2, 16, false, true, 57344, 0x1p-17}};

double byDefinition(const Format &format, int code) {
  const int fields = code % 128;
  const bool isNegative = code >= 128;
  if (format.isFnuz && code == 128) {
    return nan;
  }
  if (format.isIeee && fields >= 124) {
    return fields > 124 ? nan : isNegative ? -infinity : infinity;
  }
  if (!format.isIeee && !format.isFnuz && fields == 127) {
    return nan;
  }
  const int step = 1 << format.mantissaBits;
  const int exponent = fields / step;
  const double significand = fields % step / static_cast<double>(step) + (exponent > 0 ? 1 : 0);
  const double value = significand * std::pow(2.0, std::max(exponent, 1) - format.bias);
  return isNegative ? -value : value;
}

class Float8 : public ::testing::TestWithParam<Format> {
protected:
  /// Codes of the finite numbers from zero up, in order.
  int finiteCount() const { return GetParam().isIeee ? 124 : GetParam().isFnuz ? 128 : 127; }
};

TEST_P(Float8, EveryCodeHasItsValueAndComesBack) {
  const Format &format = GetParam();
  for (int code = 0; code < 256; ++code) {
    const double expected = byDefinition(format, code);
    const double actual = fromFloat8(static_cast<uint8_t>(code), format.type);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << code;
      EXPECT_TRUE(std::isnan(fromFloat8(toFloat8(actual, format.type), format.type))) << code;
      continue;
    }
    EXPECT_EQ(actual, expected) << code;
    EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << code;
    if (std::isfinite(expected)) {
      EXPECT_EQ(toFloat8(actual, format.type), code);
    }
    uint8_t stored = 0;
    const uint8_t byte = static_cast<uint8_t>(code);
    storeFromDouble(&stored, format.type, loadAsDouble(&byte, format.type));
    EXPECT_EQ(stored, std::isfinite(expected) ? code : code % 128 == 124 ? code - 1 : stored);
  }
  EXPECT_EQ(byDefinition(format, finiteCount() - 1), format.largest);
  EXPECT_EQ(byDefinition(format, 1), format.smallest);
}

TEST_P(Float8, RoundsToNearestEvenBetweenAllNeighbours) {
  const Format &format = GetParam();
  for (int code = 0; code + 1 < finiteCount(); ++code) {
    const double low = byDefinition(format, code), high = byDefinition(format, code + 1);
    const double middle = (low + high) / 2; // exact in double
    const int even = code % 2 == 0 ? code : code + 1;
    EXPECT_EQ(toFloat8(middle, format.type), even) << code;
    EXPECT_EQ(toFloat8(std::nextafter(middle, 0), format.type), code) << code;
    EXPECT_EQ(toFloat8(std::nextafter(middle, high), format.type), code + 1) << code;
    EXPECT_EQ(toFloat8(std::nextafter(high, 0), format.type), code + 1) << code;
    if (even != 0) {
      EXPECT_EQ(toFloat8(-middle, format.type), even + 128) << code;
    }
  }
}

TEST_P(Float8, WhatIsTooLargeBecomesTheLargest) {
  const Format &format = GetParam();
  const auto largest = static_cast<uint8_t>(finiteCount() - 1);
  const double values[] = {format.largest,
                           format.largest * 1.01,
                           format.largest * 2,
                           0x1p19,
                           0x1p20,
                           1e30,
                           std::nextafter(1e308, 0),
                           infinity};
  for (double value : values) {
    EXPECT_EQ(toFloat8(value, format.type), largest) << value;
    EXPECT_EQ(toFloat8(-value, format.type), largest + 128) << value;
  }
}

TEST_P(Float8, ZeroNanAndTheSmallest) {
  const Format &format = GetParam();
  const uint8_t negativeZero = format.isFnuz ? 0 : 128;
  EXPECT_EQ(toFloat8(0.0, format.type), 0);
  EXPECT_EQ(toFloat8(-0.0, format.type), negativeZero);
  EXPECT_EQ(toFloat8(-5e-324, format.type), negativeZero);
  EXPECT_EQ(toFloat8(format.smallest / 2, format.type), 0) << "a tie goes to the even zero";
  EXPECT_EQ(toFloat8(-format.smallest / 2, format.type), negativeZero);
  EXPECT_EQ(toFloat8(std::nextafter(format.smallest / 2, 1), format.type), 1);
  EXPECT_EQ(toFloat8(nan, format.type), format.isFnuz ? 128 : 127);
  EXPECT_EQ(toFloat8(-nan, format.type), format.isFnuz ? 128 : 255);
}

TEST_P(Float8, TensorsConvertFillAndPoison) {
  const DType type = GetParam().type;
  runtime::Tensor singles = runtime::Tensor::empty({3000}, DType::F32);
  fillNormal(singles, 4);
  const runtime::Tensor small = singles.to(type);
  const runtime::Tensor back = small.to(DType::F64), half = small.to(DType::F16);
  for (int64_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(small.as<uint8_t>()[i], toFloat8(singles.at(i), type));
    ASSERT_EQ(back.at(i), small.at(i));
    ASSERT_EQ(half.at(i), small.at(i)) << "float16 holds every number of the 8-bit formats";
  }
  const runtime::Tensor integers = runtime::Tensor::empty({3}, DType::I32);
  integers.as<int32_t>()[0] = 17; // between 16 and 18 (e4m3) or 16 and 20 (e5m2)
  integers.as<int32_t>()[1] = 1 << 30;
  integers.as<int32_t>()[2] = -3;
  const runtime::Tensor rounded = integers.to(type);
  EXPECT_EQ(rounded.at(0), 16);
  EXPECT_EQ(rounded.at(1), GetParam().largest);
  EXPECT_EQ(rounded.at(2), -3);
  small.poison();
  EXPECT_TRUE(std::isnan(small.at(0)) && std::isnan(small.at(2999)));
}

INSTANTIATE_TEST_SUITE_P(Formats, Float8, ::testing::ValuesIn(formats),
                         [](const auto &info) { return std::string(torchName(info.param.type)); });

/// (1 + m/8) 2^(e - 15), and m/8 2^-14 where the exponent field is zero; no infinity and no NaN.
double e4b15(int code) {
  const int exponent = code % 128 / 8;
  const double fraction = code % 8 / 8.0;
  const double value =
      exponent == 0 ? fraction * 0x1p-14 : (1 + fraction) * std::pow(2.0, exponent - 15);
  return code < 128 ? value : -value;
}

TEST(Float8E4B15, EveryCodeHasItsValueAndAllButTheLastComeBack) {
  for (int code = 0; code < 256; ++code) {
    const double value = fromFloat8(static_cast<uint8_t>(code), DType::F8E4B15);
    EXPECT_EQ(value, e4b15(code)) << code;
    EXPECT_EQ(std::signbit(value), code >= 128) << code;
    EXPECT_EQ(toFloat8(value, DType::F8E4B15), code % 128 == 127 ? code - 1 : code);
  }
  EXPECT_EQ(e4b15(127), 1.875);
  EXPECT_EQ(e4b15(1), 0x1p-17);
}

TEST(Float8E4B15, MiddlesGoUpAfterWhatFloat16CannotHoldIsCut) {
  for (int code = 0; code < 126; ++code) {
    const double low = e4b15(code), high = e4b15(code + 1), middle = (low + high) / 2;
    const double sliver = std::max(std::ldexp(1.0, std::ilogb(middle) - 10), 0x1p-24);
    EXPECT_EQ(toFloat8(middle, DType::F8E4B15), code + 1) << code;
    EXPECT_EQ(toFloat8(-middle, DType::F8E4B15), code + 129) << code;
    EXPECT_EQ(toFloat8(std::nextafter(middle, 0), DType::F8E4B15), code) << code;
    EXPECT_EQ(toFloat8(middle - sliver / 8, DType::F8E4B15), code) << code;
    EXPECT_EQ(toFloat8(middle + sliver, DType::F8E4B15), code + 1) << code;
    EXPECT_EQ(toFloat8(std::nextafter(high, 0), DType::F8E4B15), code + 1) << code;
  }
}

TEST(Float8E4B15, WhatIsLargeOrNanBecomesTheLargestThatIsMade) {
  for (double value : {1.75, 1.8125, 1.875, 2.0, 65504.0, 1e300, infinity, nan}) {
    EXPECT_EQ(toFloat8(value, DType::F8E4B15), 0x7E) << value;
    EXPECT_EQ(toFloat8(std::copysign(value, -1.0), DType::F8E4B15), 0xFE) << value;
  }
  EXPECT_EQ(toFloat8(std::nextafter(1.75, 0), DType::F8E4B15), 0x7E);
  EXPECT_EQ(toFloat8(0.0, DType::F8E4B15), 0);
  EXPECT_EQ(toFloat8(-0.0, DType::F8E4B15), 0x80);
  EXPECT_EQ(toFloat8(-5e-324, DType::F8E4B15), 0x80);
  EXPECT_EQ(toFloat8(0x1p-18, DType::F8E4B15), 1);
  EXPECT_EQ(toFloat8(std::nextafter(0x1p-18, 0), DType::F8E4B15), 0);
}

TEST(Float8E4B15, TensorsConvertFillAndPoison) {
  runtime::Tensor singles = runtime::Tensor::empty({3000}, DType::F32);
  fillNormal(singles, 4);
  const runtime::Tensor small = singles.to(DType::F8E4B15);
  const runtime::Tensor half = small.to(DType::F16);
  for (int64_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(small.as<uint8_t>()[i], toFloat8(singles.at(i), DType::F8E4B15));
    ASSERT_EQ(small.at(i), e4b15(small.as<uint8_t>()[i]));
    ASSERT_EQ(half.at(i), small.at(i)) << "float16 holds every number of the format";
  }
  small.poison();
  EXPECT_EQ(small.at(2999), -1.875) << "which no conversion makes";
}

TEST(Float8Names, EverySpelling) {
  EXPECT_EQ(parseDType("fp8e4nv"), DType::F8E4M3FN);
  EXPECT_EQ(parseDType("float8_e5m2"), DType::F8E5M2);
  EXPECT_EQ(parseDType("float8e4b8"), DType::F8E4M3FNUZ);
  EXPECT_EQ(parseDType("fp8e5b16"), DType::F8E5M2FNUZ);
  EXPECT_EQ(parseDType("fp8e4b15"), DType::F8E4B15);
  EXPECT_EQ(parseDType("float8e4b15"), DType::F8E4B15);
  EXPECT_EQ(parseDType("fp8e4b14"), std::nullopt);
  EXPECT_TRUE(isFloat8(DType::F8E5M2FNUZ) && isFloat(DType::F8E4M3FN));
  EXPECT_FALSE(isFloat8(DType::U8) || isFloat8(DType::F16) || isFloat8(DType::Bool));
}

} // namespace
