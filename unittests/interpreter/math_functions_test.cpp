// SPDX-License-Identifier: Apache-2.0
// Mathematical functions against tabulated values (Abramowitz and Stegun; OEIS constants), special
// values, and the rounding functions against their definition.
#include "RunKernel.h"

#include <cmath>
#include <limits>

namespace nereid::test {
namespace {

struct Known {
  const char *op;
  double argument, value;
};

const Known knownValues[] = {
    {"math.exp", 1, 2.718281828459045235},    {"math.exp", -1, 0.367879441171442322},
    {"math.exp2", 0.5, 1.414213562373095049}, {"math.exp2", 10, 1024},
    {"math.expm1", 1, 1.718281828459045235},  {"math.log", 2, 0.693147180559945309},
    {"math.log2", 10, 3.321928094887362348},  {"math.log10", 2, 0.301029995663981195},
    {"math.log1p", 1, 0.693147180559945309},  {"math.sqrt", 2, 1.414213562373095049},
    {"math.rsqrt", 2, 0.707106781186547524},  {"math.cbrt", 2, 1.259921049894873165},
    {"math.sin", 1, 0.841470984807896507},    {"math.cos", 1, 0.540302305868139717},
    {"math.tan", 1, 1.557407724654902231},    {"math.asin", 0.5, 0.523598775598298873},
    {"math.acos", 0.5, 1.047197551196597746}, {"math.atan", 1, 0.785398163397448310},
    {"math.sinh", 1, 1.175201193643801457},   {"math.cosh", 1, 1.543080634815243779},
    {"math.tanh", 1, 0.761594155955764888},   {"math.asinh", 1, 0.881373587019543025},
    {"math.acosh", 2, 1.316957896924816709},  {"math.atanh", 0.5, 0.549306144334054846},
    {"math.erf", 0.5, 0.520499877813046538},  {"math.erf", 1, 0.842700792949714869},
};

TEST(MathFunctions, AgreeWithTablesInEveryType) {
  for (const Known &known : knownValues) {
    const std::string body = std::string("%r = ") + known.op + " %a : TA";
    for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
      auto input = runtime::Tensor::empty({1}, dtype);
      input.set(0, known.argument);
      const double got = evaluate(body, {input}, dtype).at(0);
      const int digits = dtype == DType::F16    ? 11
                         : dtype == DType::BF16 ? 8
                         : dtype == DType::F32  ? 24
                                                : 53;
      // Half a unit in the last place, and a little for the table's own last digit.
      const double bound = std::ldexp(std::fabs(known.value), -digits) * 1.01;
      EXPECT_NEAR(got, known.value, bound) << known.op << " as " << torchName(dtype);
    }
  }
}

std::vector<float> unary(const std::string &op, const std::vector<float> &values) {
  return valuesOf<float>(
      evaluate("%r = " + op + " %a : TA", {tensorOf(DType::F32, values)}, DType::F32));
}

TEST(MathFunctions, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(unary("math.exp", {-infinity, infinity, 0, 1000, -1000}),
            (std::vector<float>{0, infinity, 1, infinity, 0}));
  EXPECT_EQ(unary("math.log", {0, 1, infinity}), (std::vector<float>{-infinity, 0, infinity}));
  EXPECT_EQ(unary("math.tanh", {-infinity, 0, infinity}), (std::vector<float>{-1, 0, 1}));
  for (const char *op : {"math.exp", "math.log", "math.sqrt", "math.sin", "math.erf"}) {
    EXPECT_TRUE(std::isnan(unary(op, {nan})[0])) << op;
  }
  EXPECT_TRUE(std::isnan(unary("math.log", {-1})[0]));
  EXPECT_TRUE(std::isnan(unary("math.sqrt", {-1})[0]));
}

TEST(MathFunctions, RoundingFunctions) {
  const std::vector<float> x{0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.4f, -2.6f, 8388609.0f, 3e38f};
  EXPECT_EQ(unary("math.floor", x),
            (std::vector<float>{0, 1, 2, -1, -2, 2, -3, 8388609.0f, 3e38f}));
  EXPECT_EQ(unary("math.ceil", x),
            (std::vector<float>{1, 2, 3, -0.f, -1, 3, -2, 8388609.0f, 3e38f}));
  EXPECT_EQ(unary("math.trunc", x),
            (std::vector<float>{0, 1, 2, -0.f, -1, 2, -2, 8388609.0f, 3e38f}));
  EXPECT_EQ(unary("math.round", x),
            (std::vector<float>{1, 2, 3, -1, -2, 2, -3, 8388609.0f, 3e38f}));
  EXPECT_EQ(unary("math.roundeven", x),
            (std::vector<float>{0, 2, 2, -0.f, -2, 2, -3, 8388609.0f, 3e38f}));
}

TEST(MathFunctions, TwoOperands) {
  const std::vector<float> x{2, -2, 9, 0}, y{10, 3, 0.5f, 0};
  const std::vector<runtime::Tensor> inputs{tensorOf(DType::F32, x), tensorOf(DType::F32, y)};
  EXPECT_EQ(valuesOf<float>(evaluate("%r = math.powf %a, %b : TA", inputs, DType::F32)),
            (std::vector<float>{1024, -8, 3, 1}));
  const auto angles = valuesOf<float>(evaluate("%r = math.atan2 %a, %b : TA", inputs, DType::F32));
  EXPECT_FLOAT_EQ(angles[0], 0.19739556f);
  EXPECT_FLOAT_EQ(angles[1], -0.58800260f);
  const std::vector<int32_t> n{10, -1, 2, 0};
  EXPECT_EQ(
      valuesOf<float>(evaluate("%r = math.fpowi %a, %b : TA, TB",
                               {tensorOf(DType::F32, x), tensorOf(DType::I32, n)}, DType::F32)),
      (std::vector<float>{1024, -0.5f, 81, 1}));
}

} // namespace
} // namespace nereid::test
