// SPDX-License-Identifier: Apache-2.0
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

#include <regex>

using namespace nereid::nvidia;

static std::string ptxOfMaximum(const std::string &type) {
  return ptxOfText("@triton.jit\n"
                   "def k(x, out):\n"
                   "    i = tl.arange(0, 128)\n"
                   "    tl.store(out + i, tl.maximum(tl.load(x + i), float('-inf')))\n",
                   "x=*" + type + ":16, out=*" + type + ":16");
}

TEST(NvidiaNumbers, AnInfinityIsNoNeutralElementBesideNaN) {
  // max(nan, -inf) is -inf: to fold it to its other operand gives NaN.
  EXPECT_EQ(countOf(ptxOfMaximum("fp32"), "max.f32"), 1);
  EXPECT_EQ(countOf(ptxOfMaximum("fp16"), "max.f32"), 1);
  EXPECT_EQ(countOf(ptxOfMaximum("fp64"), "max.f64"), 1);
}

TEST(NvidiaNumbers, NoResultOfASignedMaximumIsTheOperandOfAnother) {
  // max(max(x, -y), z): ptxas of CUDA 13.0 loses the sign of y where it sees both.
  for (const char *extremum : {"max", "min"}) {
    const std::string name = extremum;
    const std::string ptx = ptxOfText("@triton.jit\n"
                                      "def k(x, y, z, out):\n"
                                      "    i = tl.arange(0, 128)\n"
                                      "    a = tl." +
                                          name +
                                          "imum(tl.load(x + i), -tl.load(y + i))\n"
                                          "    tl.store(out + i, tl." +
                                          name + "imum(a, tl.load(z + i)))\n",
                                      "x=*i32:16, y=*i32:16, z=*i32:16, out=*i32:16");
    std::smatch first;
    ASSERT_TRUE(std::regex_search(ptx, first, std::regex(name + R"(\.s32\s+(%r\d+),)"))) << ptx;
    const std::string inner = first[1];
    EXPECT_TRUE(std::regex_search(ptx, std::regex(R"(add\.s32\s+%r\d+, )" + inner + ", %r")))
        << ptx;
    EXPECT_FALSE(std::regex_search(ptx, std::regex(name + R"(\.s32\s+%r\d+, )" + inner + ",")));
    EXPECT_EQ(countOf(ptx, "%nwarpid"), 1);
  }
}

/// Of a kernel that stores an expression of the float32 numbers a and b.
static std::string ptxOfExpression(const std::string &expression, const std::string &out = "fp32") {
  return ptxOfText("from triton.language.extra import libdevice\n"
                   "@triton.jit\n"
                   "def k(x, y, out):\n"
                   "    i = tl.arange(0, 128)\n"
                   "    a = tl.load(x + i)\n"
                   "    b = tl.load(y + i)\n"
                   "    tl.store(out + i, " +
                       expression + ")\n",
                   "x=*fp32:16, y=*fp32:16, out=*" + out + ":16");
}

TEST(NvidiaNumbers, ExponentialsStandOnTheInstructionAndKeepSubnormals) {
  const std::string exp = ptxOfExpression("tl.exp(a)");
  // Of a number within 0 and 1 where the result is normal; the product with 2^n rounds what is not.
  EXPECT_EQ(countOf(exp, "ex2.approx.ftz.f32"), 1) << exp;
  EXPECT_EQ(countOf(exp, "fma.rn.sat.f32"), 1) << exp;
  EXPECT_EQ(countOf(exp, "fma.rm.f32"), 1) << exp;
  EXPECT_EQ(countOf(exp, "fma.rn.f32"), 2) << exp;
  EXPECT_EQ(countOf(exp, "mul.f32") + countOf(exp, "mul.rn.f32"), 1) << exp;
  EXPECT_EQ(countOf(ptxOfExpression("tl.exp2(a)"), "ex2.approx.f32"), 1);
  EXPECT_EQ(countOf(ptxOfExpression("tl.rsqrt(a)"), "rsqrt.approx.f32"), 1);
}

/// That a function of float32 costs, beside loads and stores.
static int multiplicationsOf(const std::string &expression, const std::string &out) {
  const std::string ptx = ptxOfExpression(expression, out);
  return countOf(ptx, "fma.rn.f32") + countOf(ptx, "mul.f32") + countOf(ptx, "mul.rn.f32");
}

TEST(NvidiaNumbers, FunctionsForSixteenBitsHaveShortForms) {
  const std::pair<const char *, double> most[] = {
      {"sinh(a)", 0.5},  {"cosh(a)", 0.5},      {"tan(a)", 0.5},
      {"asin(a)", 0.5},  {"acos(a)", 0.5},      {"erfinv(a)", 0.5},
      {"log10(a)", 0.6}, {"log1p(a)", 2.0 / 3}, {"hypot(a, b)", 0.5}};
  for (const auto &[call, share] : most) {
    const std::string function = std::string("libdevice.") + call;
    const int whole = multiplicationsOf(function, "fp32");
    EXPECT_LE(multiplicationsOf(function, "bf16"), share * whole) << call;
    EXPECT_LE(multiplicationsOf("-" + function + " * b", "fp16"), share * whole + 1) << call;
    // A sum may cancel what the short form has right.
    EXPECT_GE(multiplicationsOf(function + " - b", "fp16"), whole) << call;
  }
}

TEST(NvidiaNumbers, AnglesOfFloat16HaveNoBranchForTheTangent) {
  const auto ptxOf = [](const std::string &type) {
    return ptxOfText("from triton.language.extra import libdevice\n"
                     "@triton.jit\n"
                     "def k(x, out):\n"
                     "    i = tl.arange(0, 128)\n"
                     "    tl.store(out + i, libdevice.tan(tl.load(x + i).to(tl.float32)))\n",
                     "x=*" + type + ":16, out=*" + type + ":16");
  };
  EXPECT_EQ(countOf(ptxOf("fp16"), ".f64"), 0);
  EXPECT_GT(countOf(ptxOf("bf16"), ".f64"), 0);
}

TEST(NvidiaNumbers, QuotientsOfExactNumbersAreRounded) {
  EXPECT_EQ(countOf(ptxOfExpression("a / b"), "div.rn.f32"), 1);
  EXPECT_EQ(countOf(ptxOfExpression("tl.abs(a) / (b + 1)"), "div.rn.f32"), 1);
}

TEST(NvidiaNumbers, QuotientsOfFunctionsAreNotUnlessAsked) {
  EXPECT_EQ(countOf(ptxOfExpression("tl.exp(a) / b"), "div.full.f32"), 1);
  EXPECT_EQ(countOf(ptxOfExpression("a / (1 + tl.exp(-b))"), "div.full.f32"), 1);
  EXPECT_EQ(countOf(ptxOfExpression("tl.math.div_rn(tl.exp(a), b)"), "div.rn.f32"), 1);
}

/// Nothing is scaled on conditions: the reciprocal of a quarter of what is 1 and more is normal.
TEST(NvidiaNumbers, ConstantsByOneAndAPowerAreReciprocals) {
  for (const char *text : {"tl.sigmoid(a)", "1 / (1 + tl.exp(-a))", "2.0 / (tl.exp2(a) + 1)"}) {
    const std::string ptx = ptxOfExpression(text);
    EXPECT_EQ(countOf(ptx, "rcp.approx.ftz.f32"), 1) << text << ptx;
    EXPECT_EQ(countOf(ptx, "div."), 0) << text << ptx;
    EXPECT_EQ(countOf(ptx, "0f3E800000"), std::string(text)[0] == '2' ? 2 : 3) << text << ptx;
  }
  for (const char *text : {"1 / (0.5 + tl.exp(a))", "1 / tl.exp(a)", "0.0 / (1 + tl.exp(a))",
                           "1e-37 / (1 + tl.exp(a))", "b / (1 + tl.exp(a))"}) {
    EXPECT_EQ(countOf(ptxOfExpression(text), "div.full.f32"), 1) << text;
  }
  EXPECT_EQ(countOf(ptxOfExpression("1 / (1 + a)"), "rcp.rn.f32"), 1);
}

TEST(NvidiaNumbers, ARoundedProductIsNotJoinedWithASum) {
  const std::string joined = ptxOfExpression("a * b + 1"),
                    apart = ptxOfExpression("tl.math.mul_rn(a, b) + 1");
  EXPECT_EQ(countOf(joined, "fma.rn.f32"), 1) << joined;
  EXPECT_EQ(countOf(apart, "fma.rn.f32"), 0) << apart;
  EXPECT_EQ(countOf(apart, "mul.rn.f32"), 1) << apart;
}

TEST(NvidiaNumbers, HalvesThatShareAWordAreRoundedTogether) {
  const std::string half = ptxOfText("@triton.jit\n"
                                     "def k(x, out):\n"
                                     "    i = tl.arange(0, 1024)\n"
                                     "    tl.store(out + i, tl.load(x + i))\n",
                                     "x=*fp32:16, out=*fp16:16");
  EXPECT_EQ(countOf(half, "cvt.rn.f16x2.f32"), 4) << half;
  EXPECT_EQ(countOf(half, "cvt.rn.f16.f32"), 0) << half;
  EXPECT_EQ(countOf(ptxOfExpression("a", "bf16"), "cvt.rn.bf16x2.f32"), 1);
}
