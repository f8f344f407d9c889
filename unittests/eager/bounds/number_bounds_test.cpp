// SPDX-License-Identifier: Apache-2.0
// Bounds of what is computed with numbers that float32 does not have, 0.9 say: a kernel has a
// neighbour instead. What does not depend on the number is bounded as tightly as without it.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <cmath>

namespace nereid::eager {
namespace {

/// out = body of x: [D] against what an implementation wrote.
Comparison agreementOf(const std::string &body, const std::vector<double> &x,
                       const std::vector<double> &written, DType type = DType::F32,
                       const std::string &output = "") {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname='t'\nsummary='s'\ndtypes=['" + std::string(torchName(type)) + "']\nbody='" +
          body + "'\n[inputs.x]\nshape=['D']\n[outputs.out]\nshape=['D']\n" + output +
          "[performance]\ncases=[{D=1}]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  const auto n = static_cast<int64_t>(x.size());
  const DType of = definition::nodeDtypes(*op, type)[static_cast<size_t>(op->outputs[0])];
  std::vector<Tensor> in = {make({n}, x, type)}, out = {make({n}, written, of)};
  auto agreement =
      checkOutputs(*op, in, out, type, Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(agreement);
  return *agreement;
}

const float nearNine = 0.9F;

/// Of multiples of ten nine tenths are whole: the product is exact, but not that of 0.9F.
TEST(NumberBounds, AProductThatIsExactOnlyInDecimalsIsRounded) {
  int differing = 0;
  for (int i = 0; i < 100; ++i) {
    const int whole = 8388610 + 70 * i, product = whole / 10 * 9, taken = product - 3;
    const std::string body = "out = 0.9 * x - " + std::to_string(taken) + ".0";
    const float apart = nearNine * static_cast<float>(whole) - static_cast<float>(taken);
    const auto fused = static_cast<float>(static_cast<double>(nearNine) * whole - taken);
    EXPECT_TRUE(agreementOf(body, {1.0 * whole}, {static_cast<double>(apart)}).passed()) << i;
    EXPECT_TRUE(agreementOf(body, {1.0 * whole}, {static_cast<double>(fused)}).passed()) << i;
    differing += fused != 3;
    // Not more than that: six roundings of the product are too many.
    const double far = 3 + 6 * std::ldexp(1.0 * product, -24);
    EXPECT_EQ(agreementOf(body, {1.0 * whole}, {far}).mismatches, 1) << i;
  }
  EXPECT_GT(differing, 50);
  // A number that float32 has rounds nothing.
  EXPECT_EQ(agreementOf("out = 0.875 * x", {8}, {7}).mismatches, 0);
  EXPECT_EQ(agreementOf("out = 0.875 * x - 7", {8}, {1e-9}).mismatches, 1);
}

TEST(NumberBounds, ASmallNumberThatIsChosenIsNotBoundedByTheLimit) {
  for (const char *body : {"out = clamp(x, -0.9, 0.9)", "out = torch.clamp(x, max=0.9)",
                           "out = where(x < 0.9, x, 0.9)"}) {
    EXPECT_TRUE(agreementOf(body, {1e-20F, 2}, {1e-20F, nearNine}).passed()) << body;
    EXPECT_EQ(agreementOf(body, {1e-20F, 2}, {1.001e-20F, nearNine}).mismatches, 1) << body;
    EXPECT_EQ(agreementOf(body, {1e-20F, 2}, {1e-20F, nearNine + 3e-7F}).mismatches, 1) << body;
  }
  EXPECT_EQ(agreementOf("out = maximum(x * 1.1, x * 0 + 0.1)", {1}, {1.1F}).mismatches, 0);
  EXPECT_EQ(agreementOf("out = leaky_relu(x, 0.1)", {1e-20F}, {1.00001e-20F}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = leaky_relu(x, 0.1)", {-8}, {8 * -0.1F}).mismatches, 0);
}

/// What the rounding of -84 moves, though -84 is exact; an argument that is no difference is not
/// rounded.
TEST(NumberBounds, ADifferenceThatExpReadsIsRounded) {
  const double exact = std::exp(-84.0), moved = 84 * std::ldexp(1.0, -24);
  const auto apart = [&](double times) { return std::vector{exact * (1 + times * moved)}; };
  EXPECT_TRUE(agreementOf("out = torch.exp(x - 40)", {-44}, apart(1)).passed());
  EXPECT_EQ(agreementOf("out = torch.exp(x - 40)", {-44}, apart(4)).mismatches, 1);
  EXPECT_EQ(agreementOf("out = torch.exp(x)", {-84}, apart(1)).mismatches, 1);
  EXPECT_EQ(agreementOf("out = x - 40", {-44}, {-84.00001}).mismatches, 1);
}

/// Of a single class the logarithm of its probability is 0, and that times an infinity NaN; where
/// it may be a little less, it is open.
TEST(NumberBounds, TheExponentialOfNothingIsOne) {
  const double none = NAN, big = INFINITY;
  EXPECT_EQ(agreementOf("out = torch.exp(x)", {0}, {1.0000001}).mismatches, 1);
  for (const DType type : {DType::F32, DType::F16, DType::F64}) {
    const std::string body = "out = x * F.log_softmax(where(x > 9, 1.0, x), dim=-1)";
    const Comparison alone = agreementOf(body, {big}, {none}, type);
    EXPECT_TRUE(alone.passed());
    EXPECT_EQ(alone.unverifiable, 0);
    EXPECT_EQ(agreementOf(body, {big, -100}, {none, 10100}, type).unverifiable, 1);
  }
}

/// -1e30 is 1e22 away from its neighbour.
TEST(NumberBounds, MaskedNumbersDoNotBlurTheMaximumOfTheOthers) {
  const std::vector<double> x = {1, 2, -3};
  const double total = std::exp(-1.0) + 1;
  const std::string masked = "where(x < 0, -1e30, x)";
  const Comparison right = agreementOf("out = softmax(" + masked + ", dim=-1)", x,
                                       {std::exp(-1.0) / total, 1 / total, 0});
  EXPECT_TRUE(right.passed());
  EXPECT_EQ(right.unverifiable, 0);
  EXPECT_EQ(agreementOf("out = torch.amax(" + masked + ", dim=-1, keepdim=True) + x * 0", x,
                        {2, 2.000001F, 2})
                .mismatches,
            1);
}

TEST(NumberBounds, WhatComparesWithANumberMayCompareWithItsNeighbour) {
  const auto compared = [](const std::string &body, double given, double written) {
    return agreementOf(body, {given}, {written}, DType::F32, "dtype=\"bool\"\n");
  };
  for (const double holds : {0.0, 1.0}) {
    EXPECT_TRUE(compared("out = x >= 0.9", nearNine, holds).passed()) << holds;
  }
  EXPECT_EQ(compared("out = x >= 0.9", 0.90001F, 0).mismatches, 1);
  EXPECT_EQ(compared("out = x >= 0.875", 0.875, 0).mismatches, 1);
}

TEST(NumberBounds, PowersOfZeroAreKnown) {
  EXPECT_EQ(agreementOf("out = x ** 0.9", {0, 1}, {0, 1}).unverifiable, 0);
  EXPECT_EQ(agreementOf("out = x ** 0.9", {0, 1}, {1e-30, 1}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = x ** 0.9", {1e30F}, {std::pow(1e30, 0.9F)}).mismatches, 0);
}

TEST(NumberBounds, RestsOfManyTimesANumberAreOpen) {
  // 0.1F goes into 1e8 fifteen times less often than 0.1 does.
  const double rest = std::fmod(1e8, static_cast<double>(0.1F));
  EXPECT_EQ(agreementOf("out = torch.fmod(x, 0.1)", {1e8}, {rest}).unverifiable, 1);
  EXPECT_EQ(agreementOf("out = torch.fmod(x, 0.1)", {0.25}, {0.05F}).mismatches, 0);
  EXPECT_EQ(agreementOf("out = torch.fmod(x, 0.1)", {0.25}, {0.06}).mismatches, 1);
}

TEST(NumberBounds, SoftplusKnowsItsNumbers) {
  const auto beta = static_cast<double>(0.7F);
  EXPECT_EQ(agreementOf("out = softplus(x, 0.7)", {3}, {std::log1p(std::exp(3 * beta)) / beta})
                .mismatches,
            0);
  // On the threshold either form will do.
  const double bent = std::log1p(std::exp(0.9)) / 0.9;
  for (const double written : {1.0, bent}) {
    EXPECT_TRUE(agreementOf("out = softplus(x, 0.9, 0.9)", {1}, {written}).passed()) << written;
  }
  EXPECT_EQ(agreementOf("out = softplus(x, 0.9, 0.9)", {1.001F}, {bent}).mismatches, 1);
}

/// Half-way between whole numbers rounding goes to the even one, where the quotient is exact.
TEST(NumberBounds, QuotientsByPowersOfTwoAreExact) {
  EXPECT_EQ(agreementOf("out = torch.round(x / 0.5)", {1.25, 1.75}, {2, 4}).mismatches, 0);
  EXPECT_EQ(agreementOf("out = torch.round(x / 0.5)", {1.25, 1.75}, {3, 4}).mismatches, 1);
  // By any other number it may be a product with a rounded reciprocal.
  for (const double written : {2.0, 3.0}) {
    EXPECT_TRUE(agreementOf("out = torch.round(x / 3.0)", {7.5}, {written}).passed()) << written;
  }
}

/// value * tensor1 / tensor2, whose product may be 0 before it is divided by 0.
TEST(NumberBounds, WhatUnderflowsBeforeItIsDividedByZeroIsOpen) {
  const std::string body = "out = torch.addcdiv(x, x, x * 0, value=0.25)";
  EXPECT_EQ(agreementOf(body, {1e-45F}, {std::nan("")}).unverifiable, 1);
  EXPECT_EQ(agreementOf(body, {1}, {std::nan("")}).mismatches, 1);
}

TEST(NumberBounds, NumbersBeyondTheRangeAndOtherTypesStayExact) {
  EXPECT_EQ(agreementOf("out = clamp(x, -1e300, 1e300)", {3}, {3.00001F}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = clamp(x, -1e300, 1e300)", {3}, {3}).unverifiable, 0);
  EXPECT_EQ(agreementOf("out = 0.9 * x", {1}, {nearNine}, DType::F64).mismatches, 1);
  EXPECT_EQ(agreementOf("out = x + 16777217", {1}, {16777217}, DType::I32).mismatches, 1);
  EXPECT_EQ(agreementOf("out = x + 16777217", {1}, {16777218}, DType::I32).mismatches, 0);
}

/// The sum is off by 6 at most, so that 252 might be 258, which uint8 has not: a clamp's end is
/// what becomes of it.
TEST(NumberBounds, AClampKeepsAnIntegerInItsType) {
  const std::string sum = "(x + 1e8) - 1e8", type = "dtype=\"uint8\"\n";
  const auto agreement = [&](const std::string &body, double written) {
    return agreementOf("out = " + body + ".to(torch.uint8)", {252}, {written}, DType::F32, type);
  };
  EXPECT_EQ(agreement("(" + sum + ")", 252).unverifiable, 1);
  const std::string clamped = "torch.clamp(" + sum + ", 0, 255)";
  for (const std::string &body :
       {clamped, "torch.where(torch.isnan(x), 0.0, " + clamped + ")",
        "torch.round(" + clamped + ")", "torch.clamp(" + sum + ", max=255)"}) {
    EXPECT_TRUE(agreement(body, 255).passed()) << body;
    EXPECT_TRUE(agreement(body, 248).passed()) << body;
    EXPECT_EQ(agreement(body, 252).unverifiable, 0) << body;
    EXPECT_EQ(agreement(body, 200).mismatches, 1) << body;
  }
  for (const std::string &body : // ends that are none of uint8, not known, or changed behind
       {"torch.clamp(" + sum + ", 0, 300)", "torch.clamp(" + sum + ", min=0)",
        "torch.clamp(" + sum + ", 0, x + 3)", "(" + clamped + " + 1)",
        "torch.where(x > 0, " + sum + ", " + clamped + ")"}) {
    EXPECT_EQ(agreement(body, 252).unverifiable, 1) << body;
  }
}

/// A tenth of 10 is 1, or a little less in float32; an eighth of 8 is 1.
TEST(NumberBounds, AnIndexThatMayBeAnotherReadsEither) {
  const std::string body = "out = x[torch.floor(x * 0.1).to(torch.int64)]";
  const std::vector<double> x = {0, 10, 20, 30};
  EXPECT_TRUE(agreementOf(body, x, {0, 10, 20, 30}).passed());
  EXPECT_TRUE(agreementOf(body, x, {0, 0, 10, 20}).passed());
  EXPECT_EQ(agreementOf(body, x, {10, 10, 20, 30}).mismatches, 1);
  EXPECT_EQ(agreementOf(body, x, {0, 45, 20, 30}).mismatches, 1);
  const std::string exact = "out = x[torch.floor(x * 0.125).to(torch.int64)]";
  EXPECT_TRUE(agreementOf(exact, {0, 8, 16, 24}, {0, 8, 16, 24}).passed());
  EXPECT_EQ(agreementOf(exact, {0, 8, 16, 24}, {0, 0, 16, 24}).mismatches, 1);
  // A clamp says how many there are.
  const std::string any = "out = x[torch.clamp((x + 1e12) - 1e12, 0, 3).to(torch.int64)]";
  EXPECT_TRUE(agreementOf(any, {0, 1, 2, 3}, {3, 3, 0, 0}).passed());
  EXPECT_EQ(agreementOf(any, {0, 1, 2, 3}, {20, 1, 2, 3}).mismatches, 1);
}

/// Which of two zeros is read is open where the index is, and only there.
TEST(NumberBounds, ZerosOfTwoSignsAreApartWhereEitherIsRead) {
  const auto mismatches = [](const std::string &index, double written) {
    const std::string body = "out = x[torch.floor((x * 0 + " + index + ").to(torch.int64)]";
    return agreementOf(body, {0.0, -0.0}, {written, written}).mismatches;
  };
  EXPECT_EQ(mismatches("10) * 0.1", -0.0), 0);
  EXPECT_EQ(mismatches("10) * 0.1", 0.0), 0);
  EXPECT_EQ(mismatches("8) * 0.125", -0.0), 0);
  EXPECT_EQ(mismatches("8) * 0.125", 0.0), 2);
  const auto chosen = [](const std::string &condition, double written) {
    return agreementOf("out = where(" + condition + ", x, -x)", {0.0}, {written}).mismatches;
  };
  for (const double written : {0.0, -0.0}) {
    EXPECT_EQ(chosen("(x + 10) * 0.9 > 9", written), 0);
  }
  EXPECT_EQ(chosen("x + 10 > 9", 0.0), 0);
  EXPECT_EQ(chosen("x + 10 > 9", -0.0), 1);
}

/// What float64 has is not rounded; a third times 3 is 1 only once it is.
TEST(NumberBounds, SumsAndProductsOfFloat64ThatLeaveNoRestAreExact) {
  const auto agreement = [](const std::string &body, double x, double written) {
    return agreementOf(body, {x}, {written}, DType::F64);
  };
  EXPECT_TRUE(agreement("out = torch.floor((x + 1) * 3)", 1, 6).passed());
  EXPECT_EQ(agreement("out = torch.floor((x + 1) * 3)", 1, 5).mismatches, 1);
  EXPECT_TRUE(agreement("out = torch.floor(x * 3)", 1.0 / 3, 0).passed());
  EXPECT_TRUE(agreement("out = torch.floor(x * 3)", 1.0 / 3, 1).passed());
  EXPECT_TRUE(agreement("out = torch.floor(x + 1)", -0x1p-60, 0).passed());
  EXPECT_TRUE(agreement("out = torch.floor(x + 1)", -0x1p-60, 1).passed());
}

/// 0.9 * 10 may lie on either side of 9.
TEST(NumberBounds, AConditionThatTheOtherOperandDecidesIsNotOpen) {
  const auto mismatches = [](const std::string &condition, double written) {
    return agreementOf("out = where(" + condition + ", 1.0, 0.0)", {10}, {written}).mismatches;
  };
  EXPECT_EQ(mismatches("(x > 100) & (0.9 * x > 9)", 0), 0);
  EXPECT_EQ(mismatches("(x > 100) & (0.9 * x > 9)", 1), 1);
  EXPECT_EQ(mismatches("(0.9 * x > 9) | (x < 100)", 1), 0);
  EXPECT_EQ(mismatches("(0.9 * x > 9) | (x < 100)", 0), 1);
  for (const double written : {0.0, 1.0}) { // nothing decides
    EXPECT_EQ(mismatches("(x < 100) & (0.9 * x > 9)", written), 0);
    EXPECT_EQ(mismatches("(0.9 * x > 9) | (x > 100)", written), 0);
  }
}

TEST(NumberBounds, AnIndexThatMayBeOffLeadsToItsNeighbours) {
  const std::string added = "out = torch.scatter_add(0 * x, 0, (0.9 * x).to(torch.int64), x)";
  const auto meets = [&](size_t at) {
    std::vector<double> out(12, 0.0);
    out[at] = 10;
    return agreementOf(added, {10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, out).mismatches;
  };
  EXPECT_EQ(meets(9), 0);
  EXPECT_EQ(meets(8), 0);
  EXPECT_GT(meets(7), 0);
  EXPECT_GT(meets(11), 0);
  const std::string read = "out = torch.gather(x, 0, (0.9 * x).to(torch.int64))";
  const std::vector<double> x = {10, 1, 0, 0, 0, 0, 0, 0, 4, 6, 9};
  const auto reads = [&](double value) {
    return agreementOf(read, x, {value, 10, 10, 10, 10, 10, 10, 10, 0, 0, 4}).mismatches;
  };
  EXPECT_EQ(reads(6), 0); // x[9]
  EXPECT_EQ(reads(4), 0); // x[8]
  EXPECT_EQ(reads(9), 0); // x[10] is as far
  EXPECT_EQ(reads(20), 1);
}

} // namespace
} // namespace nereid::eager
