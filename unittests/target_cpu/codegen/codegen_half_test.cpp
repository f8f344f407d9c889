// SPDX-License-Identifier: Apache-2.0
// f16 and bf16: conversions on all bit patterns and around every rounding boundary, arithmetic that
// rounds once per operation, moves that keep every bit. The references are written here from the
// definition of the formats, on exact numbers.
#include "unittests/target_cpu/CodegenHarness.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace nereid::cpu::test {
namespace {

struct Format {
  const char *name;
  int mantissaBits, minExponent, maxExponent; // of the leading bit
};

const Format formats[] = {{"f16", 10, -14, 15}, {"bf16", 7, -126, 127}};

double decode(uint16_t bits, const Format &format) {
  int mantissa = bits & ((1 << format.mantissaBits) - 1);
  int exponent = (bits & 0x7fff) >> format.mantissaBits;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 2 * format.maxExponent + 1) {
    return mantissa ? NAN : sign * INFINITY;
  }
  double value = exponent == 0 ? std::ldexp(mantissa, format.minExponent - format.mantissaBits)
                               : std::ldexp(mantissa + (1 << format.mantissaBits),
                                            exponent - format.maxExponent - format.mantissaBits);
  return sign * value;
}

/// Nearest even, on an exact value.
uint16_t encode(long double value, const Format &format) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  int infinity = (2 * format.maxExponent + 1) << format.mantissaBits;
  if (std::isnan(value)) {
    return sign | infinity | (1 << (format.mantissaBits - 1));
  }
  value = std::fabs(value);
  if (std::isinf(value)) {
    return sign | infinity;
  }
  int exponent = value == 0 ? format.minExponent : std::max(std::ilogb(value), format.minExponent);
  long double scaled = std::nearbyint(std::ldexp(value, format.mantissaBits - exponent));
  // As an integer, a carry out of the mantissa moves into the exponent by itself.
  int bits = static_cast<int>(scaled) + ((exponent - format.minExponent) << format.mantissaBits);
  return sign | static_cast<uint16_t>(std::min(bits, infinity));
}

bool sameNumber(uint16_t a, uint16_t b, const Format &format) {
  bool isNan = std::isnan(decode(a, format));
  return isNan ? std::isnan(decode(b, format)) : a == b;
}

class Half : public testing::TestWithParam<std::tuple<Format, const char *>> {
protected:
  void SetUp() override {
    Result<CpuMachine> machine = parseMachine(std::get<1>(GetParam())), host = parseMachine("");
    if (!machine || !host || machine->vectorBytes > host->vectorBytes) {
      GTEST_SKIP() << "this machine has no such vectors";
    }
  }

  const Format &format() { return std::get<0>(GetParam()); }
  CompiledLoops compile(const std::string &from, const std::string &to, const std::string &op,
                        int inputs = 1, int lanes = 8) {
    auto vector = [&](const std::string &element) {
      return lanes == 1 ? element : "vector<" + std::to_string(lanes) + "x" + element + ">";
    };
    std::string body = "    %y = " + op + (inputs == 2 ? " %x0, %x1 : " : " %x0 : ") + vector(from);
    if (from != to) {
      body += " to " + vector(to);
    }
    return compileLoops(elementwiseKernel(from, to, lanes, inputs, body), std::get<1>(GetParam()));
  }
  std::vector<uint16_t> allPatterns() {
    std::vector<uint16_t> patterns(65536);
    for (size_t i = 0; i < patterns.size(); ++i) {
      patterns[i] = static_cast<uint16_t>(i);
    }
    return patterns;
  }
};

TEST_P(Half, ExtendsEveryPattern) {
  for (int lanes : {1, 8, 16}) {
    CompiledLoops kernel = compile(format().name, "f32", "arith.extf", 1, lanes);
    ASSERT_EQ(kernel.error, "");
    std::vector<uint16_t> x = allPatterns();
    std::vector<float> y(x.size());
    kernel.call({slot(x.data()), slot(y.data()), x.size()});
    for (size_t i = 0; i < x.size(); ++i) {
      double expected = decode(x[i], format());
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(y[i])
                                       : std::bit_cast<uint32_t>(y[i]) ==
                                             std::bit_cast<uint32_t>(static_cast<float>(expected)))
          << std::hex << i;
    }
  }
  CompiledLoops wide = compile(format().name, "f64", "arith.extf");
  ASSERT_EQ(wide.error, "");
  std::vector<uint16_t> x = allPatterns();
  std::vector<double> y(x.size());
  wide.call({slot(x.data()), slot(y.data()), x.size()});
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = decode(x[i], format());
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(y[i]) : y[i] == expected) << std::hex << i;
  }
}

/// Numbers on, just above and just below every number of the format and every midpoint.
template <class T> std::vector<T> boundaryValues(const Format &format) {
  std::vector<T> values;
  for (int i = 0; i < 0x7fff; ++i) {
    double a = decode(static_cast<uint16_t>(i), format),
           b = decode(static_cast<uint16_t>(i + 1), format);
    if (!std::isfinite(a)) {
      continue;
    }
    if (!std::isfinite(b)) {
      b = std::ldexp(1, format.maxExponent + 1);
    }
    for (double point : {a, (a + b) / 2}) {
      T exact = static_cast<T>(point);
      for (T near : {exact, std::nextafter(exact, T(0)), std::nextafter(exact, T(INFINITY))}) {
        values.push_back(near);
        values.push_back(-near);
      }
    }
  }
  for (T special : {T(INFINITY), T(-INFINITY), T(NAN), T(0), T(-0.0), T(1e30), T(3.4e38)}) {
    values.push_back(special);
  }
  while (values.size() % 16) {
    values.push_back(1);
  }
  return values;
}

TEST_P(Half, TruncatesFloat32) {
  std::vector<float> x = boundaryValues<float>(format());
  for (int lanes : {1, 8, 16}) {
    CompiledLoops kernel = compile("f32", format().name, "arith.truncf", 1, lanes);
    ASSERT_EQ(kernel.error, "");
    std::vector<uint16_t> y(x.size());
    kernel.call({slot(x.data()), slot(y.data()), x.size()});
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(sameNumber(encode(x[i], format()), y[i], format())) << x[i] << " " << y[i];
    }
  }
}

TEST_P(Half, TruncatesFloat64WithOneRounding) {
  CompiledLoops kernel = compile("f64", format().name, "arith.truncf");
  ASSERT_EQ(kernel.error, "");
  std::vector<double> x = boundaryValues<double>(format());
  x.insert(x.end(), {1e300, -1e300, 5e-324, -5e-324, 1e-60, 1e40, -1e-46, 1e-45});
  std::vector<uint16_t> y(x.size());
  kernel.call({slot(x.data()), slot(y.data()), x.size()});
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(sameNumber(encode(x[i], format()), y[i], format())) << x[i] << " " << y[i];
  }
}

TEST_P(Half, ConvertsIntegersWithOneRounding) {
  std::vector<int64_t> x;
  for (int shift = 0; shift < 64; ++shift) {
    for (int64_t step : {-1, 0, 1}) {
      x.push_back(static_cast<int64_t>((uint64_t(1) << shift) + step));
      x.push_back(static_cast<int64_t>((uint64_t(0x101) << shift) + step)); // a midpoint of bf16
      x.push_back(static_cast<int64_t>((uint64_t(0x801) << shift) + step)); // a midpoint of f16
      x.push_back(static_cast<int64_t>(-((uint64_t(0x101) << shift) + step)));
    }
  }
  while (x.size() % 8) {
    x.push_back(0);
  }
  std::vector<uint16_t> y(x.size());
  CompiledLoops isSigned = compile("i64", format().name, "arith.sitofp");
  ASSERT_EQ(isSigned.error, "");
  isSigned.call({slot(x.data()), slot(y.data()), x.size()});
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i], encode(static_cast<long double>(x[i]), format())) << x[i];
  }
  CompiledLoops isUnsigned = compile("i64", format().name, "arith.uitofp");
  ASSERT_EQ(isUnsigned.error, "");
  isUnsigned.call({slot(x.data()), slot(y.data()), x.size()});
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i], encode(static_cast<long double>(static_cast<uint64_t>(x[i])), format()))
        << x[i];
  }
}

TEST_P(Half, ArithmeticRoundsOnce) {
  std::mt19937 random(7);
  std::vector<uint16_t> a, b;
  for (int i = 0; i < 200000; ++i) {
    a.push_back(static_cast<uint16_t>(random()));
    // Half of them close to `a`, so that sums cancel and carry.
    b.push_back(i % 2 ? static_cast<uint16_t>(random())
                      : static_cast<uint16_t>((a.back() + random() % 4096) ^ (random() & 0x8000)));
  }
  struct Operation {
    const char *name;
    long double (*reference)(long double, long double);
  };
  for (Operation op :
       {Operation{"arith.addf", [](long double x, long double y) { return x + y; }},
        Operation{"arith.subf", [](long double x, long double y) { return x - y; }},
        Operation{"arith.mulf", [](long double x, long double y) { return x * y; }},
        Operation{"arith.divf", [](long double x, long double y) { return x / y; }}}) {
    CompiledLoops kernel = compile(format().name, format().name, op.name, 2);
    ASSERT_EQ(kernel.error, "");
    std::vector<uint16_t> y(a.size());
    kernel.call({slot(a.data()), slot(b.data()), slot(y.data()), a.size()});
    for (size_t i = 0; i < a.size(); ++i) {
      uint16_t expected =
          encode(op.reference(decode(a[i], format()), decode(b[i], format())), format());
      ASSERT_TRUE(sameNumber(expected, y[i], format()))
          << op.name << " " << decode(a[i], format()) << " " << decode(b[i], format());
    }
  }
}

TEST_P(Half, MathFunctionsRoundTheFloat32Result) {
  CompiledLoops kernel = compile(format().name, format().name, "math.exp");
  ASSERT_EQ(kernel.error, "");
  std::vector<uint16_t> x = allPatterns(), y(x.size());
  kernel.call({slot(x.data()), slot(y.data()), x.size()});
  for (size_t i = 0; i < x.size(); ++i) {
    uint16_t expected =
        encode(std::exp(static_cast<long double>(decode(x[i], format()))), format());
    // One place: the float32 value may lie on the other side of a midpoint.
    ASSERT_TRUE(sameNumber(expected, y[i], format()) || std::abs(int(expected) - int(y[i])) <= 1)
        << decode(x[i], format());
  }
}

TEST_P(Half, MovesKeepEveryBit) {
  std::string t = format().name, v = "vector<8x" + t + ">";
  CompiledLoops kernel = compileLoops(
      elementwiseKernel(
          t, t, 8, 2,
          "    %c = arith.constant dense<1.5> : " + v +
              "\n"
              "    %big = arith.cmpf ogt, %x0, %c : " +
              v +
              "\n"
              "    %s = arith.select %big, %x0, %x1 : vector<8xi1>, " +
              v +
              "\n"
              "    %r = vector.shuffle %s, %s [7, 6, 5, 4, 3, 2, 1, 0] : " +
              v + ", " + v +
              "\n"
              "    %bits = arith.bitcast %r : " +
              v +
              " to vector<8xi16>\n"
              "    %one = arith.constant dense<1> : vector<8xi16>\n"
              "    %next = arith.addi %bits, %one : vector<8xi16>\n"
              "    %back = arith.bitcast %next : vector<8xi16> to " +
              v +
              "\n"
              "    %n = arith.negf %back : " +
              v +
              "\n"
              "    %lanes = arith.constant dense<[true, true, true, true, true, true, true, "
              "false]> : vector<8xi1>\n"
              "    %at0 = llvm.getelementptr %scratch[0] : (!llvm.ptr) -> !llvm.ptr, " +
              t +
              "\n"
              "    llvm.intr.masked.store %n, %at0, %lanes {alignment = 2 : i32} : " +
              v +
              ", vector<8xi1> into !llvm.ptr\n"
              "    %y = llvm.intr.masked.load %at0, %lanes, %c {alignment = 2 : i32} : (!llvm.ptr, "
              "vector<8xi1>, " +
              v + ") -> " + v),
      std::get<1>(GetParam()));
  ASSERT_EQ(kernel.error, "");
  std::vector<uint16_t> a(64), b(64), y(64);
  std::mt19937 random(3);
  for (int i = 0; i < 64; ++i) {
    a[i] = static_cast<uint16_t>(random());
    b[i] = static_cast<uint16_t>(random());
  }
  kernel.call({slot(a.data()), slot(b.data()), slot(y.data()), 64});
  for (int i = 0; i < 64; ++i) {
    int from = i / 8 * 8 + 7 - i % 8;
    uint16_t chosen = decode(a[from], format()) > 1.5 ? a[from] : b[from];
    uint16_t expected =
        i % 8 == 7 ? encode(1.5, format()) : static_cast<uint16_t>((chosen + 1) ^ 0x8000);
    EXPECT_EQ(y[i], expected) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Half,
                         testing::Combine(testing::ValuesIn(formats),
                                          testing::Values("x86-64-v2", "x86-64-v3", "x86-64-v4",
                                                          "")),
                         [](const auto &info) {
                           std::string level = std::get<1>(info.param);
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  (level.empty() ? "host" : level.substr(level.size() - 2));
                         });

} // namespace
} // namespace nereid::cpu::test
