// SPDX-License-Identifier: Apache-2.0
// The four 8-bit floating-point types and the rounding modes of arith.truncf. Numbers are computed
// here from the definition of each format: sign, exponent with its bias, mantissa.
#include "RunKernel.h"

#include <cmath>

namespace nereid::test {
namespace {

struct Format {
  const char *type;
  int mantissaBits, bias;
  bool hasInfinity; ///< and the NaNs of IEEE
  bool hasMinusZero;
  float largest;
};

const Format formats[] = {{"f8E4M3FN", 3, 7, false, true, 448},
                          {"f8E5M2", 2, 15, true, true, 57344},
                          {"f8E4M3FNUZ", 3, 8, false, false, 240},
                          {"f8E5M2FNUZ", 2, 16, false, false, 57344}};

float value(const Format &format, int bits) {
  const int exponent = (bits & 0x7f) >> format.mantissaBits;
  const int mantissa = bits & ((1 << format.mantissaBits) - 1);
  const int top = (1 << (7 - format.mantissaBits)) - 1;
  if (format.hasInfinity && exponent == top) {
    return mantissa != 0 ? NAN : bits >= 128 ? -INFINITY : INFINITY;
  }
  if (format.hasMinusZero ? !format.hasInfinity && (bits & 0x7f) == 0x7f : bits == 0x80) {
    return NAN;
  }
  const float fraction = std::ldexp(static_cast<float>(mantissa), -format.mantissaBits);
  const float size = exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                                   : std::ldexp(1 + fraction, exponent - format.bias);
  return bits >= 128 ? -size : size;
}

std::vector<uint8_t> allBytes() {
  std::vector<uint8_t> bytes(256);
  for (int i = 0; i < 256; ++i) {
    bytes[i] = static_cast<uint8_t>(i);
  }
  return bytes;
}

std::string inType(const Format &format, const std::string &body) {
  return "%x = arith.bitcast %a : TA to tensor<256x" + std::string(format.type) + ">\n" + body;
}

TEST(Float8, EveryPatternHasItsValue) {
  for (const Format &format : formats) {
    auto got = valuesOf<float>(evaluate(
        inType(format, "%r = arith.extf %x : tensor<256x" + std::string(format.type) + "> to TR"),
        {tensorOf(DType::I8, allBytes())}, DType::F32));
    for (int i = 0; i < 256; ++i) {
      const float expected = value(format, i);
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(got[i]) : got[i] == expected)
          << format.type << " " << i << ": " << got[i] << " " << expected;
      EXPECT_EQ(std::signbit(got[i]), i >= 128 && (format.hasMinusZero || i != 128) ||
                                          (std::isnan(expected) && std::signbit(got[i])));
    }
  }
}

/// The nearest of all finite numbers; of two the one with an even pattern.
int nearest(const Format &format, float x) {
  const int sign = std::signbit(x) ? 128 : 0;
  int best = 0;
  float distance = INFINITY;
  for (int i = 0; i < 128; ++i) {
    const float candidate = value(format, i);
    if (!std::isfinite(candidate)) {
      continue;
    }
    const float apart = std::fabs(candidate - std::fabs(x));
    if (apart < distance || (apart == distance && i % 2 == 0)) {
      best = i;
      distance = apart;
    }
  }
  return best == 0 && !format.hasMinusZero ? 0 : sign | best;
}

TEST(Float8, TruncationTakesTheNearestAndSaturates) {
  std::vector<float> x{0.0f, -0.0f, 1e-30f, -1e-30f, 1e30f, -1e30f, INFINITY, -INFINITY};
  for (int step = -40; step <= 70; ++step) {
    for (float factor : {1.0f, 1.0625f, 1.1875f, 1.3f, -1.375f, 1.4375f, -1.9f, 1.9375f}) {
      x.push_back(std::ldexp(factor, step / 2));
    }
  }
  for (const Format &format : formats) {
    auto got = valuesOf<uint8_t>(
        evaluate("%t = arith.truncf %a : TA to tensor<" + std::to_string(x.size()) + "x" +
                     format.type + ">\n%r = arith.bitcast %t : tensor<" + std::to_string(x.size()) +
                     "x" + format.type + "> to TR",
                 {tensorOf(DType::F32, x)}, DType::I8));
    for (size_t i = 0; i < x.size(); ++i) {
      const float clamped = std::fmin(std::fmax(x[i], -format.largest), format.largest);
      EXPECT_EQ(got[i], nearest(format, clamped)) << format.type << " " << x[i];
    }
  }
}

TEST(Float8, SignsOfZeroAndNaN) {
  for (const Format &format : formats) {
    const std::string type = "tensor<256x" + std::string(format.type) + ">";
    for (const char *op : {"arith.negf", "math.absf"}) {
      auto got = valuesOf<uint8_t>(
          evaluate(inType(format, "%y = " + std::string(op) + " %x : " + type +
                                      "\n%r = arith.bitcast %y : " + type + " to TR"),
                   {tensorOf(DType::I8, allBytes())}, DType::I8));
      for (int i = 0; i < 256; ++i) {
        const bool isFixed = !format.hasMinusZero && (i & 0x7f) == 0;
        const int flipped = std::string(op) == "math.absf" ? i & 0x7f : i ^ 0x80;
        EXPECT_EQ(got[i], isFixed ? i : flipped) << format.type << " " << op << " " << i;
      }
    }
  }
}

TEST(Float8, NaNStaysNaN) {
  for (const Format &format : formats) {
    auto got = valuesOf<uint8_t>(
        evaluate("%t = arith.truncf %a : TA to tensor<1x" + std::string(format.type) +
                     ">\n%r = arith.bitcast %t : tensor<1x" + format.type + "> to TR",
                 {tensorOf<float>(DType::F32, {NAN})}, DType::I8));
    EXPECT_TRUE(std::isnan(value(format, got[0]))) << format.type << " " << int(got[0]);
  }
}

TEST(Rounding, EveryModeOnBothSidesOfATie) {
  // bfloat16 keeps 7 bits: 1 + 1/128 is the neighbour of 1. Below, at and above the tie.
  const std::vector<float> x{1.00390625f - 0x1p-20f, 1.00390625f,
                             1.00390625f + 0x1p-20f, 1.01171875f,
                             -1.00390625f,           -1.01171875f};
  const uint16_t one = 0x3f80, minus = 0xbf80;
  struct Case {
    const char *mode;
    std::vector<uint16_t> expected;
  };
  const Case cases[] = {{"to_nearest_even", {one, one, one + 1, one + 2, minus, minus + 2}},
                        {"to_nearest_away", {one, one + 1, one + 1, one + 2, minus + 1, minus + 2}},
                        {"toward_zero", {one, one, one, one + 1, minus, minus + 1}},
                        {"upward", {one + 1, one + 1, one + 1, one + 2, minus, minus + 1}},
                        {"downward", {one, one, one, one + 1, minus + 1, minus + 2}}};
  for (const Case &c : cases) {
    auto got =
        valuesOf<uint16_t>(evaluate("%r = arith.truncf %a " + std::string(c.mode) + " : TA to TR",
                                    {tensorOf(DType::F32, x)}, DType::BF16));
    EXPECT_EQ(got, c.expected) << c.mode;
  }
}

TEST(Rounding, TowardZeroNeverOverflows) {
  auto got = valuesOf<uint16_t>(evaluate(
      "%r = arith.truncf %a toward_zero : TA to TR",
      {tensorOf<float>(DType::F32, {65535.0f, -1e30f, INFINITY, 1e-10f, -1e-10f})}, DType::F16));
  EXPECT_EQ(got, (std::vector<uint16_t>{0x7bff, 0xfbff, 0x7c00, 0x0000, 0x8000}));
  auto wide = valuesOf<float>(
      evaluate("%r = arith.truncf %a toward_zero : TA to TR",
               {tensorOf<double>(DType::F64, {1e300, 0.1, -0.1, 1 + 0x1p-24})}, DType::F32));
  EXPECT_EQ(wide, (std::vector<float>{3.40282347e38f, 0x1.999998p-4f, -0x1.999998p-4f, 1.0f}));
}

} // namespace
} // namespace nereid::test
