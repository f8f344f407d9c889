// SPDX-License-Identifier: Apache-2.0
// Forms that cost less where nothing is lost, and their near misses, in the PTX of small kernels.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

namespace {

/// Of `out[i] = value`, where x, y are loaded from two tensors of the type.
std::string ptxOfValue(const std::string &value, const std::string &type = "fp32") {
  return ptxOfText("from triton.language.extra import libdevice\n"
                   "@triton.jit\n"
                   "def k(a, b, out, n, s):\n"
                   "    i = tl.arange(0, 128)\n"
                   "    x = tl.load(a + i).to(tl.float32)\n"
                   "    y = tl.load(b + i).to(tl.float32)\n"
                   "    tl.store(out + i, " +
                       value + ")\n",
                   "a=*" + type + ":16, b=*" + type + ":16, out=*" + type + ":16, n=i32, s=fp32");
}

std::string ptxOfAddition(const std::string &type, const std::string &signature,
                          const std::string &target = "nvidia:sm_90a",
                          const std::string &mask = "") {
  return ptxOfText("@triton.jit\n"
                   "def k(x, out, n):\n"
                   "    i = tl.arange(0, 1024)\n"
                   "    tl.atomic_add(out + i, tl.load(x + i)" +
                       mask + ")\n",
                   "x=*" + type + ":16, out=*" + type + signature, target);
}

} // namespace

TEST(NvidiaCheaperForms, ADifferenceHasNoCorrectionInItsExponential) {
  const int plain = countOf(ptxOfValue("tl.exp(x)"), "fma.rn.f32");
  EXPECT_GT(plain, 0);
  EXPECT_EQ(countOf(ptxOfValue("tl.exp(x - y)"), "fma.rn.f32"), 0);
  EXPECT_EQ(countOf(ptxOfValue("tl.exp(-x)"), "fma.rn.f32"), plain); // exact: nothing is rounded
}

TEST(NvidiaCheaperForms, QuotientsOfSumsNeedNotBeRounded) {
  EXPECT_EQ(countOf(ptxOfValue("x / y"), "div.rn.f32"), 1);
  EXPECT_EQ(countOf(ptxOfValue("(x + y) / y"), "div.rn.f32"), 1);
  EXPECT_EQ(countOf(ptxOfValue("x / tl.sum(y)"), "div.rn.f32"), 0);
  EXPECT_EQ(countOf(ptxOfValue("x / tl.max(y)"), "div.rn.f32"), 1); // of those, nothing is rounded
  EXPECT_EQ(countOf(ptxOfValue("tl.div_rn(x, tl.sum(y))"), "div.rn.f32"), 1);
}

TEST(NvidiaCheaperForms, QuotientsByConstantsAreSums) {
  const std::string ptx = ptxOfValue("x / 6.0");
  EXPECT_EQ(countOf(ptx, "fma.rn.f32"), 1) << ptx;
  EXPECT_EQ(countOf(ptx, "div.rn.f32"), 1) << "of tiny numbers, behind a branch";
  EXPECT_EQ(countOf(ptxOfValue("x / 8.0"), "div.rn.f32"), 0) << "a product";
  EXPECT_EQ(countOf(ptxOfValue("x.to(tl.float16).to(tl.float32) / 6.0"), "div.rn.f32"), 0);
  EXPECT_EQ(countOf(ptxOfValue("x / 0.7"), "fma.rn.f32"), 0) << "it has no such sum";
  EXPECT_EQ(countOf(ptxOfValue("tl.sum(x) / 0.7"), "div"), 0) << "by a reciprocal";
}

TEST(NvidiaCheaperForms, ExponentialsForHalvesHaveNoCorrection) {
  auto corrected = [](const std::string &value, const std::string &type) {
    return countOf(ptxOfValue(value, type), "fma.rm.f32");
  };
  for (const std::string type : {"fp16", "bf16"}) {
    EXPECT_EQ(corrected("x * tl.sigmoid(1.7 * x)", type), 0) << type;
    EXPECT_EQ(corrected("tl.exp(x)", type), 0) << type;
    EXPECT_EQ(corrected("y / tl.exp(x)", type), 0) << type;
    EXPECT_EQ(corrected("tl.exp(x) - 1.0", type), 1) << "small of what is off " << type;
    EXPECT_EQ(corrected("tl.exp(x) + y", type), 1) << "y may take most of it away " << type;
    EXPECT_EQ(corrected("tl.exp(tl.exp(x))", type), 1) << "it grows there " << type;
  }
  EXPECT_EQ(corrected("x * tl.sigmoid(1.7 * x)", "fp32"), 1) << "all of it is kept";
  EXPECT_EQ(countOf(ptxOfValue("tl.sigmoid(-1.7 * x)", "fp16"), "mul.f32"), 2)
      << "one in front of the power, one behind the reciprocal";
}

TEST(NvidiaCheaperForms, QuotientsByPowersNeedNotBeRounded) {
  EXPECT_EQ(countOf(ptxOfValue("x / libdevice.pow(y, 0.75)"), "div.full.f32"), 1);
  EXPECT_EQ(countOf(ptxOfValue("x / libdevice.pow(y, 3.0)"), "div.rn.f32"), 1) << "products";
}

TEST(NvidiaCheaperForms, QuotientsForFunctionsThatAreOffByMoreNeedNotBeRounded) {
  EXPECT_EQ(countOf(ptxOfValue("libdevice.tanh(x / s)"), "div.full.f32"), 1);
  EXPECT_EQ(countOf(ptxOfValue("tl.erf(x / y)"), "div.full.f32"), 1);
  EXPECT_EQ(countOf(ptxOfValue("tl.exp(x / y)"), "div.rn.f32"), 1) << "it grows there";
  EXPECT_EQ(countOf(ptxOfValue("tl.erf(x / y) + x / y"), "div.rn.f32"), 1);
}

TEST(NvidiaCheaperForms, AnglesOfHalvesAreNear) {
  EXPECT_GT(countOf(ptxOfValue("tl.sin(x)"), ".f64"), 0);
  EXPECT_GT(countOf(ptxOfValue("tl.sin(x)", "bf16"), ".f64"), 0);
  EXPECT_EQ(countOf(ptxOfValue("tl.sin(x)", "fp16"), ".f64"), 0);
  EXPECT_EQ(countOf(ptxOfValue("tl.cos(x)", "fp16"), ".f64"), 0);
}

TEST(NvidiaCheaperForms, PowersAndArcTangentsStayInSinglePrecision) {
  const int pairs = countOf(ptxOfValue("libdevice.pow(x, y)"), "fma.rn.f32");
  EXPECT_EQ(countOf(ptxOfValue("libdevice.pow(x, y)"), ".f64"), 0);
  EXPECT_EQ(countOf(ptxOfValue("libdevice.atan(x)"), ".f64"), 0);
  EXPECT_LT(countOf(ptxOfValue("libdevice.pow(x, y)", "fp16"), "fma.rn.f32"), pairs);
  // What is used elsewhere, too, keeps its precision.
  EXPECT_GE(countOf(ptxOfValue("libdevice.pow(x, y) + x", "fp16"), "fma.rn.f32"), pairs);
}

TEST(NvidiaCheaperForms, ACopiedSignIsNoChoice) {
  const std::string ptx = ptxOfValue("libdevice.copysign(x, y)");
  EXPECT_EQ(countOf(ptx, "selp"), 0) << ptx;
  EXPECT_EQ(countOf(ptx, "2147483647"), 0) << ptx; // nor an operation on bits beside another one
  EXPECT_EQ(countOf(ptx, "copysign.f32"), 1) << ptx;
}

TEST(NvidiaCheaperForms, TheComplementaryErrorFunctionGoesOneWay) {
  const std::string ptx = ptxOfValue("libdevice.erfc(x)");
  EXPECT_EQ(countOf(ptx, "bra"), 0) << ptx;
  EXPECT_EQ(countOf(ptx, "rcp.approx.ftz.f32"), 1) << ptx;
}

/// Nothing is scaled on conditions for subnormal numbers where there are none.
TEST(NvidiaCheaperForms, RootsOfNormalNumbersAreTakenAsTheyAre) {
  for (const char *text : {"libdevice.asinh(x)", "libdevice.acosh(x)", "libdevice.asin(x)"}) {
    const std::string ptx = ptxOfValue(text);
    EXPECT_EQ(countOf(ptx, "rsqrt.approx.ftz.f32"), 1) << text << ptx;
    EXPECT_EQ(countOf(ptx, "rsqrt.approx.f32"), 0) << text << ptx;
  }
}

/// The digits of 2/pi are loaded behind the one branch to angles that are far: all others are
/// reduced in front of it.
TEST(NvidiaCheaperForms, FarAnglesOfTangentsShareOneBranch) {
  const std::string ptx = ptxOfText("from triton.language.extra import libdevice\n"
                                    "@triton.jit\n"
                                    "def k(a, out):\n"
                                    "    i = tl.arange(0, 1024)\n"
                                    "    tl.store(out + i, libdevice.tan(tl.load(a + i)))\n",
                                    "a=*fp32:16, out=*fp32:16");
  const std::string twoOverPi = "0f3F22F983";
  EXPECT_EQ(countOf(ptx, twoOverPi), 8) << ptx;
  EXPECT_EQ(countOf(ptx.substr(0, ptx.find("bra")), twoOverPi), 8) << ptx;
}

TEST(NvidiaCheaperForms, DivisionsOfProgramNumbersAreNarrow) {
  const std::string wide = "(tl.program_id(0).to(tl.int64) * s.to(tl.int64) // n).to(tl.float32)";
  EXPECT_EQ(
      countOf(ptxOfValue("x * (tl.program_id(0).to(tl.int64) // n).to(tl.float32)"), "div.s64"), 0);
  EXPECT_EQ(countOf(ptxOfValue("x * " + wide), "div.s64"), 1);
}

TEST(NvidiaCheaperForms, NeighboursAreAddedAtATime) {
  EXPECT_EQ(countOf(ptxOfAddition("fp16", ":16, n=i32"), "add.noftz.v8.f16"), 1);
  EXPECT_EQ(countOf(ptxOfAddition("bf16", ":16, n=i32"), "add.noftz.v8.bf16"), 1);
  EXPECT_EQ(countOf(ptxOfAddition("fp32", ":16, n=i32"), "add.v4.f32"), 2);
  // Not where the address may be odd, a mask tells them apart, or the chip cannot.
  EXPECT_EQ(countOf(ptxOfAddition("fp16", ", n=i32"), ".v8."), 0);
  EXPECT_EQ(countOf(ptxOfAddition("fp16", ":16, n=i32", "nvidia:sm_90a", ", mask=i < n"), ".v8."),
            0);
  EXPECT_EQ(countOf(ptxOfAddition("fp32", ":16, n=i32", "nvidia:sm_80"), ".v4.f32"), 0);
}

TEST(NvidiaCheaperForms, WhatALoopSumsStaysWhereItIsMade) {
  const std::string ptx =
      ptxOfText("@triton.jit\n"
                "def k(x, out, n):\n"
                "    i, j = tl.arange(0, 64), tl.arange(0, 64)\n"
                "    sum = tl.zeros((64,), dtype=tl.float32)\n"
                "    for turn in range(n):\n"
                "        sum += tl.sum(tl.load(x + i[:, None] * 64 + j[None, :]), 1)\n"
                "        x += 4096\n"
                "    tl.store(out + i, sum)\n",
                "x=*fp32:16, out=*fp32:16, n=i32");
  // A move behind the loop and none in it: rows lie within a warp.
  EXPECT_EQ(countOf(ptx.substr(0, ptx.find("bra")), "bar.sync"), 0);
  EXPECT_LE(countOf(ptx, "bar.sync"), 2);
}
