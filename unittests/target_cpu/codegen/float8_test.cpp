// SPDX-License-Identifier: Apache-2.0
// 8-bit floats on every vector width: all 256 patterns, and numbers at and around every rounding
// boundary, against a search through the table of all values and against runtime/Float8; rounding
// towards zero of every narrow format.
#include "runtime/elements/Float8.h"
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

struct Format {
  DType dtype;
  const char *name;
  int exponentBits, mantissaBits, bias;
  bool isIeee;        ///< has infinities
  bool hasSignedZero; ///< otherwise 0x80 is the only NaN
};

const Format formats[] = {{DType::F8E4M3FN, "f8E4M3FN", 4, 3, 7, false, true},
                          {DType::F8E5M2, "f8E5M2", 5, 2, 15, true, true},
                          {DType::F8E4M3FNUZ, "f8E4M3FNUZ", 4, 3, 8, false, false},
                          {DType::F8E5M2FNUZ, "f8E5M2FNUZ", 5, 2, 16, false, false}};

double valueOf(int code, const Format &f) {
  int exponent = (code & 0x7f) >> f.mantissaBits, mantissa = code & ((1 << f.mantissaBits) - 1);
  double sign = code & 0x80 ? -1 : 1;
  if (!f.hasSignedZero && code == 0x80) {
    return NAN;
  }
  bool isLast = exponent == (1 << f.exponentBits) - 1;
  if (f.isIeee && isLast) {
    return mantissa ? NAN : sign * INFINITY;
  }
  if (f.hasSignedZero && isLast && mantissa == (1 << f.mantissaBits) - 1) {
    return NAN;
  }
  double fraction = mantissa / static_cast<double>(1 << f.mantissaBits);
  return sign * (exponent ? std::ldexp(1 + fraction, exponent - f.bias)
                          : std::ldexp(fraction, 1 - f.bias));
}

/// The non-negative finite values, by code.
std::vector<double> finiteValues(const Format &f) {
  std::vector<double> values;
  for (int code = 0; code < 0x80 && std::isfinite(valueOf(code, f)); ++code) {
    values.push_back(valueOf(code, f));
  }
  return values;
}

/// By search; NaN has any of its codes, here -1.
int codeOf(long double value, const Format &f, bool isTowardZero = false) {
  if (std::isnan(value)) {
    return -1;
  }
  std::vector<double> values = finiteValues(f);
  long double magnitude = std::fabs(value);
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    long double gap = std::fabs(values[i] - magnitude), known = std::fabs(values[best] - magnitude);
    bool isNearer = gap < known || (gap == known && i % 2 == 0);
    best = (isTowardZero ? values[i] <= magnitude : isNearer) ? i : best;
  }
  best = magnitude > values.back() ? values.size() - 1 : best;
  bool hasSign = std::signbit(value) && (f.hasSignedZero || best != 0);
  return static_cast<int>(best) | (hasSign ? 0x80 : 0);
}

bool isNan(int code, const Format &f) { return std::isnan(valueOf(code, f)); }

/// Loads n elements of `from`, applies `operation` to %x and stores %y of type `to`.
std::string castKernel(const std::string &from, const std::string &to,
                       const std::string &operation) {
  auto replaced = [](std::string text, const std::string &what, const std::string &by) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
      text.replace(at, what.size(), by);
    }
    return text;
  };
  std::string text = R"(
func.func @kernel(%from: !tile.ptr<FROM>, %to: !tile.ptr<INTO>, %n: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %block = arith.constant 192 : i32
  %start = arith.muli %pid, %block : i32
  %range = tile.make_range 0 to 192 : tensor<192xi32>
  %starts = tile.splat %start : i32 -> tensor<192xi32>
  %i = arith.addi %starts, %range : tensor<192xi32>
  %ns = tile.splat %n : i32 -> tensor<192xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<192xi32>
  %froms = tile.splat %from : !tile.ptr<FROM> -> tensor<192x!tile.ptr<FROM>>
  %fromi = tile.addptr %froms, %i : tensor<192x!tile.ptr<FROM>>, tensor<192xi32>
  %x = tile.load %fromi mask %mask : tensor<192xi1> : tensor<192x!tile.ptr<FROM>> -> tensor<192xFROM>
  OPERATION
  %tos = tile.splat %to : !tile.ptr<INTO> -> tensor<192x!tile.ptr<INTO>>
  %toi = tile.addptr %tos, %i : tensor<192x!tile.ptr<INTO>>, tensor<192xi32>
  tile.store %toi, %y mask %mask : tensor<192xi1> : tensor<192x!tile.ptr<INTO>>, tensor<192xINTO>
  return
})";
  return replaced(replaced(replaced(text, "OPERATION", operation), "FROM", from), "INTO", to);
}

template <class To, class From>
std::vector<To> runCast(const std::string &text, const std::vector<From> &from,
                        const std::string &architecture) {
  LoweredKernel kernel = lowerKernel(text, architecture);
  EXPECT_EQ(kernel.error, "") << text;
  std::vector<To> to(from.size() + 1);
  std::memset(to.data(), 0xA5, to.size() * sizeof(To));
  To guard = to.back();
  if (kernel.error.empty()) {
    auto programs = static_cast<int32_t>(from.size() / 192 + 1);
    EXPECT_TRUE(kernel.launch({programs, 1, 1}, {address(from.data()), address(to.data()),
                                                 number(static_cast<int64_t>(from.size()))}));
  }
  EXPECT_EQ(std::memcmp(&to.back(), &guard, sizeof(To)), 0);
  to.pop_back();
  return to;
}

std::string convert(const std::string &operation) {
  return "%y = arith." + operation + " %x : tensor<192xFROM> to tensor<192xINTO>";
}

const char *const towardZero =
    "%y = arith.truncf %x toward_zero : tensor<192xFROM> to tensor<192xINTO>";

std::vector<uint8_t> allCodes() {
  std::vector<uint8_t> codes(256);
  for (int i = 0; i < 256; ++i) {
    codes[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
  }
  return codes;
}

/// Values, midpoints and what is just beside them, of both signs; special numbers; random bits.
template <class Float> std::vector<Float> boundaryNumbers(const Format &f) {
  std::vector<double> values = finiteValues(f);
  values.push_back(2 * values.back() - values[values.size() - 2]); // where infinity would begin
  std::vector<Float> numbers;
  auto add = [&](double at) {
    auto x = static_cast<Float>(at);
    Float up = std::numeric_limits<Float>::infinity();
    for (Float one : {x, std::nextafter(x, up), std::nextafter(x, -up)}) {
      numbers.push_back(one);
      numbers.push_back(-one);
    }
  };
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    for (double part : {0.0, 0.25, 0.5, 0.75}) {
      add(values[i] + (values[i + 1] - values[i]) * part);
    }
  }
  using Limits = std::numeric_limits<Float>;
  for (double special : {0.0, 448.0, 464.0, 57344.0, 61440.0, 65536.0, 1e30}) {
    add(special);
  }
  for (Float special : {Limits::infinity(), Limits::max(), Limits::min(), Limits::denorm_min(),
                        Limits::quiet_NaN()}) {
    numbers.push_back(special);
    numbers.push_back(-special);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    numbers.push_back(std::bit_cast<Float>(
        static_cast<std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>>(random())));
    numbers.push_back(static_cast<Float>(
        std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 36) - 72)));
  }
  return numbers;
}

class Float8 : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, Float8, testing::ValuesIn(formats),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(Float8, EveryPatternWidensExactly) {
  const Format &f = GetParam();
  for (const std::string &architecture : runnableArchitectures()) {
    auto single =
        runCast<float>(castKernel(f.name, "f32", convert("extf")), allCodes(), architecture);
    auto wide =
        runCast<double>(castKernel(f.name, "f64", convert("extf")), allCodes(), architecture);
    auto half =
        runCast<uint16_t>(castKernel(f.name, "f16", convert("extf")), allCodes(), architecture);
    auto brain =
        runCast<uint16_t>(castKernel(f.name, "bf16", convert("extf")), allCodes(), architecture);
    for (int code = 0; code < 256; ++code) {
      auto at = static_cast<size_t>(code);
      double expected = valueOf(code, f);
      float runtimeValue = fromFloat8(static_cast<uint8_t>(code), f.dtype);
      double other[] = {wide[at], fromHalf(half[at]), fromBFloat16(brain[at]), runtimeValue};
      for (double each : other) {
        EXPECT_EQ(std::isnan(each), std::isnan(expected)) << architecture << " " << code;
      }
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(single[at])) << architecture << " " << code;
        continue;
      }
      EXPECT_EQ(std::bit_cast<uint32_t>(single[at]),
                std::bit_cast<uint32_t>(static_cast<float>(expected)))
          << architecture << " " << code;
      for (double each : other) {
        EXPECT_EQ(each, expected) << architecture << " " << code;
        EXPECT_EQ(std::signbit(each), std::signbit(expected)) << architecture << " " << code;
      }
    }
  }
}

template <class Float> void checkNarrowing(const Format &f, const char *type, bool isTowardZero) {
  std::vector<Float> numbers = boundaryNumbers<Float>(f);
  std::string text =
      castKernel(type, f.name, isTowardZero ? std::string(towardZero) : convert("truncf"));
  for (const std::string &architecture : runnableArchitectures()) {
    auto codes = runCast<uint8_t>(text, numbers, architecture);
    for (size_t i = 0; i < numbers.size(); ++i) {
      int expected = codeOf(numbers[i], f, isTowardZero);
      ASSERT_TRUE(expected < 0 ? isNan(codes[i], f) : codes[i] == expected)
          << architecture << ": " << numbers[i] << " gives " << int(codes[i]) << ", expected "
          << expected;
      if (!isTowardZero) {
        ASSERT_EQ(codes[i], toFloat8(numbers[i], f.dtype)) << architecture << ": " << numbers[i];
      }
    }
  }
}

TEST_P(Float8, SinglesRoundToTheNearest) { checkNarrowing<float>(GetParam(), "f32", false); }
TEST_P(Float8, DoublesRoundOnce) { checkNarrowing<double>(GetParam(), "f64", false); }
TEST_P(Float8, SinglesRoundTowardZero) { checkNarrowing<float>(GetParam(), "f32", true); }
TEST_P(Float8, DoublesRoundTowardZero) { checkNarrowing<double>(GetParam(), "f64", true); }

TEST_P(Float8, EveryHalfNarrows) {
  const Format &f = GetParam();
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<uint16_t>(i);
  }
  for (const char *type : {"f16", "bf16"}) {
    auto codes = runCast<uint8_t>(castKernel(type, f.name, convert("truncf")), halves, "");
    for (size_t i = 0; i < halves.size(); i += 1) {
      double value = type[0] == 'f' ? fromHalf(halves[i]) : fromBFloat16(halves[i]);
      ASSERT_EQ(codes[i], toFloat8(value, f.dtype)) << type << " " << i;
    }
  }
}

TEST_P(Float8, IntegersConvert) {
  const Format &f = GetParam();
  std::vector<int32_t> integers = {INT32_MIN, INT32_MAX, -70000, 70000, 57344, 61440};
  for (int32_t i = -1100; i <= 1100; ++i) {
    integers.push_back(i);
  }
  for (const std::string &architecture : runnableArchitectures()) {
    auto codes =
        runCast<uint8_t>(castKernel("i32", f.name, convert("sitofp")), integers, architecture);
    for (size_t i = 0; i < integers.size(); ++i) {
      ASSERT_EQ(codes[i], codeOf(integers[i], f)) << architecture << " " << integers[i];
    }
    std::vector<uint8_t> finite;
    for (uint8_t code : allCodes()) {
      if (std::isfinite(valueOf(code, f))) {
        finite.push_back(code);
      }
    }
    auto back =
        runCast<int32_t>(castKernel(f.name, "i32", convert("fptosi")), finite, architecture);
    for (size_t i = 0; i < finite.size(); ++i) {
      ASSERT_EQ(back[i], static_cast<int32_t>(valueOf(finite[i], f))) << architecture;
    }
  }
}

TEST_P(Float8, SignsMovesAndArithmetic) {
  const Format &f = GetParam();
  const std::string type = std::string("tensor<192xFROM>");
  for (const std::string &architecture : runnableArchitectures()) {
    auto negated = runCast<uint8_t>(castKernel(f.name, f.name, "%y = arith.negf %x : " + type),
                                    allCodes(), architecture);
    auto absolute = runCast<uint8_t>(castKernel(f.name, f.name, "%y = math.absf %x : " + type),
                                     allCodes(), architecture);
    auto doubled = runCast<uint8_t>(castKernel(f.name, f.name, "%y = arith.addf %x, %x : " + type),
                                    allCodes(), architecture);
    // A constant, a comparison and a choice.
    auto clamped = runCast<uint8_t>(
        castKernel(f.name, f.name,
                   "%one = arith.constant dense<1.0> : " + type +
                       "\n  %less = arith.cmpf olt, %x, %one : " + type +
                       "\n  %y = arith.select %less, %x, %one : tensor<192xi1>, " + type),
        allCodes(), architecture);
    for (int code = 0; code < 256; ++code) {
      auto at = static_cast<size_t>(code);
      double value = valueOf(code, f);
      int one = codeOf(1.0, f);
      if (std::isnan(value)) {
        EXPECT_TRUE(isNan(negated[at], f) && isNan(absolute[at], f) && isNan(doubled[at], f));
        EXPECT_EQ(clamped[at], one);
        continue;
      }
      EXPECT_EQ(valueOf(negated[at], f), -value) << architecture << " " << code;
      EXPECT_EQ(valueOf(absolute[at], f), std::fabs(value)) << architecture << " " << code;
      EXPECT_EQ(doubled[at], codeOf(2 * value, f)) << architecture << " " << code;
      EXPECT_EQ(clamped[at], value < 1 ? code : one) << architecture << " " << code;
    }
  }
}

TEST_P(Float8, TilesInScratchKeepTheirBits) {
  const Format &f = GetParam();
  // A volatile load is done once, into scratch memory.
  std::string text = castKernel(
      f.name, f.name, "%y = arith.select %mask, %x, %x : tensor<192xi1>, tensor<192xFROM>");
  text.insert(text.find(" : tensor<192x!tile.ptr", text.find("%x = tile.load")), " {isVolatile}");
  for (const std::string &architecture : runnableArchitectures()) {
    EXPECT_EQ(runCast<uint8_t>(text, allCodes(), architecture), allCodes());
  }
}

TEST(TowardZero, HalvesAndSingles) {
  std::mt19937_64 random(3);
  std::vector<float> singles = {0.0f,    -0.0f,    1.0f,      65504.0f, 65519.0f, 65520.0f, 1e30f,
                                -1e30f,  INFINITY, -INFINITY, NAN,      1e-8f,    -6e-8f,   5.9e-8f,
                                3.4e38f, 1e-40f,   -1e-45f,   1.0009f,  2049.0f};
  for (int i = 0; i < 5000; ++i) {
    singles.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    singles.push_back(static_cast<float>(random() % 4096) / 37.0f);
  }
  std::vector<double> doubles(singles.begin(), singles.end());
  for (int i = 0; i < 5000; ++i) {
    doubles.push_back(std::bit_cast<double>(random()));
    doubles.push_back(std::ldexp(static_cast<double>(random()), -60));
  }
  // The largest representable magnitude that is not above the number's.
  auto isTruncated = [](double got, double after, double exact, double largest) {
    if (std::isnan(exact) || std::isinf(exact)) {
      return std::isnan(exact) ? std::isnan(got) : got == exact;
    }
    bool isBelow = std::fabs(got) <= std::fabs(exact) && std::signbit(got) == std::signbit(exact);
    return isBelow && (std::fabs(got) == largest || std::fabs(after) > std::fabs(exact));
  };
  for (const std::string &architecture : runnableArchitectures()) {
    auto halves = runCast<uint16_t>(castKernel("f32", "f16", towardZero), singles, architecture);
    auto brains = runCast<uint16_t>(castKernel("f32", "bf16", towardZero), singles, architecture);
    for (size_t i = 0; i < singles.size(); ++i) {
      ASSERT_TRUE(isTruncated(fromHalf(halves[i]), fromHalf(static_cast<uint16_t>(halves[i] + 1)),
                              singles[i], 65504))
          << architecture << " " << singles[i] << " " << fromHalf(halves[i]);
      auto next = static_cast<uint16_t>(brains[i] + 1);
      ASSERT_TRUE(isTruncated(fromBFloat16(brains[i]), fromBFloat16(next), singles[i],
                              fromBFloat16(0x7f7f)))
          << architecture << " " << singles[i] << " " << fromBFloat16(brains[i]);
    }
    auto narrowed = runCast<float>(castKernel("f64", "f32", towardZero), doubles, architecture);
    auto narrowHalves =
        runCast<uint16_t>(castKernel("f64", "f16", towardZero), doubles, architecture);
    for (size_t i = 0; i < doubles.size(); ++i) {
      float after = std::nextafter(narrowed[i], std::copysign(INFINITY, narrowed[i]));
      ASSERT_TRUE(isTruncated(narrowed[i], after, doubles[i], std::numeric_limits<float>::max()))
          << architecture << " " << doubles[i] << " " << narrowed[i];
      ASSERT_TRUE(isTruncated(fromHalf(narrowHalves[i]),
                              fromHalf(static_cast<uint16_t>(narrowHalves[i] + 1)), doubles[i],
                              65504))
          << architecture << " " << doubles[i];
    }
  }
}

} // namespace
