// SPDX-License-Identifier: Apache-2.0
// The reference with its bounds against eager execution on every shipped definition, type and case
// of the grid; and that it notices what is wrong.
#include "unittests/ShippedOperators.h"
#include "unittests/eager/Values.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/eager/reference/Reference.h"
#include "lib/eager/reference/rules/ErrorRules.h"
#include "lib/eager/reference/rules/ReductionRules.h"

#include <cmath>
#include <filesystem>

namespace nereid::eager {
namespace {

using definition::GridCase;

Operator shipped(const std::string &name) {
  Diagnostics diags;
  auto op = definition::loadOperator(shippedPath(name), diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

std::vector<Tensor> views(const std::vector<definition::LaidOut> &inputs) {
  std::vector<Tensor> list;
  for (const definition::LaidOut &input : inputs) {
    list.push_back(input.view);
  }
  return list;
}

class ShippedTest : public testing::TestWithParam<std::string> {};

TEST_P(ShippedTest, EagerExecutionStaysWithinTheBounds) {
  Operator op = shipped(GetParam());
  for (DType dtype : op.dtypes) {
    for (const GridCase &grid : definition::accuracyGrid(op, 1)) {
      if (!definition::checkConstraints(op, grid.binding, dtype)) {
        continue; // nothing is computed of no elements
      }
      auto inputs = definition::makeInputs(op, grid, dtype);
      ASSERT_TRUE(inputs) << render(inputs.error());
      std::vector<Tensor> in = views(*inputs);
      auto outputs = runGraph(op, in, runtime::defaultPool());
      ASSERT_TRUE(outputs) << render(outputs.error());
      auto agreement =
          checkOutputs(op, in, *outputs, dtype, Rounding::EachOperation, runtime::defaultPool());
      ASSERT_TRUE(agreement) << render(agreement.error());
      EXPECT_EQ(agreement->mismatches, 0)
          << op.name << " " << torchName(dtype) << " " << grid.name << " at "
          << agreement->first.index << ": got " << agreement->first.actual << ", expected "
          << agreement->first.expected << " within " << agreement->first.bound;
      int64_t elements = 0;
      for (const Tensor &output : *outputs) {
        elements += output.elementCount();
      }
      EXPECT_EQ(agreement->elements, elements);
      // Drawn rows of two may have a variance that rounding each operation to 16 bits turns
      // negative.
      bool isOrdinary =
          grid.data.kind == definition::DataKind::Normal && !grid.name.starts_with("drawn");
      EXPECT_TRUE(!isOrdinary || agreement->unverifiable == 0) << grid.name;
    }
  }
}

TEST_P(ShippedTest, DoubleExecutionIsTheReference) {
  Operator op = shipped(GetParam());
  GridCase grid = definition::accuracyGrid(op, 1)[5];
  auto inputs = definition::makeInputs(op, grid, DType::F64);
  ASSERT_TRUE(inputs);
  std::vector<Tensor> in = views(*inputs);
  auto outputs = runGraph(op, in, runtime::defaultPool());
  auto reference =
      runReference(op, in, DType::F64, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(outputs && reference);
  if ((*outputs)[0].dtype() == DType::Bool) {
    GTEST_SKIP() << "truth values are exact in every type";
  }
  ASSERT_EQ((*outputs)[0].dtype(), DType::F64);
  for (int64_t i = 0; i < (*outputs)[0].elementCount(); ++i) {
    double expected = (*reference)[0].values.at(i);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan((*outputs)[0].at(i)));
      continue;
    }
    EXPECT_NEAR((*outputs)[0].at(i), expected, 1e-12 * (1 + std::fabs(expected)));
  }
}

TEST_P(ShippedTest, OneWrongElementIsFound) {
  Operator op = shipped(GetParam());
  GridCase grid = definition::accuracyGrid(op, 1)[7]; // odd, 1000 columns
  auto inputs = definition::makeInputs(op, grid, DType::F32);
  ASSERT_TRUE(inputs);
  std::vector<Tensor> in = views(*inputs);
  auto outputs = runGraph(op, in, runtime::defaultPool());
  ASSERT_TRUE(outputs);
  int64_t last = (*outputs)[0].elementCount() - 1;
  while (last > 0 && !std::isfinite((*outputs)[0].at(last))) { // a root of a negative number
    --last;
  }
  double right = (*outputs)[0].at(last);
  const bool isTruth = (*outputs)[0].dtype() == DType::Bool;
  for (double wrong :
       isTruth ? std::vector<double>{1 - right}
               : std::vector<double>{right * (1 + 1e-3) + 1e-4, std::nan(""), HUGE_VAL}) {
    (*outputs)[0].set(last, wrong);
    auto agreement =
        checkOutputs(op, in, *outputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
    ASSERT_TRUE(agreement);
    EXPECT_EQ(agreement->mismatches, 1) << wrong;
    EXPECT_EQ(agreement->first.index, last);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedTest, testing::ValuesIn(sampledOperators()),
                         [](const auto &info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(OfPrograms, ShippedTest, testing::ValuesIn(sampledProgramOperators()),
                         [](const auto &info) { return info.param; });

TEST(Reference, BlocksCoverEveryElementOnce) {
  // Several blocks, a cut below the first dimension, an operand that is broadcast over the cut.
  Operator op = shipped("mask_add");
  GridCase grid;
  grid.binding.symbols = {{"B", 2}, {"H", 3}, {"Q", 67}, {"K", 129}};
  auto inputs = definition::makeInputs(op, grid, DType::F32);
  ASSERT_TRUE(inputs);
  std::vector<Tensor> in = views(*inputs);
  auto reference =
      runReference(op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference);
  const Tensor &values = (*reference)[0].values;
  ASSERT_EQ(values.elementCount(), 2 * 3 * 67 * 129);
  for (int64_t i = 0; i < values.elementCount(); ++i) {
    double mask = in[1].at(i / (3 * 67 * 129) * 129 + i % 129);
    ASSERT_EQ(values.at(i), in[0].at(i) * 0.125 + mask) << i;
  }
}

TEST(Reference, BoundsGrowWithCancellation) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname='t'\nsummary='s'\ndtypes=['float32']\nbody='out = (x * x) - y'\n"
      "[inputs.x]\nshape=['D']\n[inputs.y]\nshape=['D']\n[outputs.out]\nshape=['D']\n"
      "[performance]\ncases=[{D=1}]\n",
      diags);
  ASSERT_TRUE(op) << diags.render();
  std::vector<Tensor> in = {make({1}, {1.0f + 1e-4f}), make({1}, {1.0f})};
  auto reference =
      runReference(*op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference);
  double bound = (*reference)[0].bounds.at(0), value = (*reference)[0].values.at(0);
  EXPECT_GT(bound, std::ldexp(1.0, -25)); // the product's rounding survives, the result is small
  EXPECT_LT(bound, std::ldexp(1.0, -22));
  EXPECT_GT(bound / value, 1e-4);
}

/// out = body of x: [R, D] against what an implementation wrote, row by row.
Comparison agreementOf(const std::string &body, const std::vector<double> &x,
                       const std::vector<double> &written) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname='t'\nsummary='s'\ndtypes=['float32']\nbody='" + body +
          "'\n[inputs.x]\nshape=['R', 'D']\n[outputs.out]\nshape=['R', 'D']\n"
          "[performance]\ncases=[{R=1, D=1}]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  const auto n = static_cast<int64_t>(x.size());
  std::vector<Tensor> in = {make({1, n}, x)}, out = {make({1, n}, written)};
  auto agreement =
      checkOutputs(*op, in, out, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(agreement);
  return *agreement;
}

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Reference, AnInfinityIsThatInfinityOnly) {
  const std::vector<double> x = {inf, -inf, 2};
  EXPECT_TRUE(agreementOf("out = x + 1", x, {inf, -inf, 3}).passed());
  for (double wrong : {0.0, -inf, 3e38, std::nan("")}) {
    EXPECT_EQ(agreementOf("out = x + 1", x, {wrong, -inf, 3}).mismatches, 1) << wrong;
  }
  EXPECT_EQ(agreementOf("out = x + 1", x, {inf, inf, 3}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = x + 1", x, {inf, -inf, inf}).mismatches, 1);
}

TEST(Reference, TheBoundIsToldWhateverCameOut) {
  const double bound = agreementOf("out = x + 1", {2}, {4}).first.bound;
  EXPECT_GT(bound, 0);
  EXPECT_EQ(agreementOf("out = x + 1", {2}, {std::nan("")}).first.bound, bound);
  EXPECT_EQ(agreementOf("out = x + 1", {2}, {inf}).first.bound, bound);
  EXPECT_EQ(agreementOf("out = x + 1", {inf}, {4}).first.bound, 0) << "nothing else will do";
}

TEST(Reference, InfinitiesOfFunctionsAreExact) {
  const std::vector<double> x = {inf, -inf};
  EXPECT_EQ(agreementOf("out = relu(x)", x, {inf, 0}).unverifiable, 0);
  EXPECT_EQ(agreementOf("out = relu(x)", x, {inf, 1}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = clamp(x, -2, 2)", x, {2, 2}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = hardsigmoid(x)", x, {1, 0.5}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = elu(x)", x, {inf, 0}).mismatches, 1);
}

TEST(Reference, ZerosHaveTheSignOfIeee) {
  const std::vector<double> x = {0.0F, -0.0F, 3};
  EXPECT_TRUE(agreementOf("out = -x", x, {-0.0F, 0.0F, -3}).passed());
  EXPECT_EQ(agreementOf("out = -x", x, {0.0F, 0.0F, -3}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = x * 2", x, {0.0F, 0.0F, 6}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = where(x > 1, x, x * 0)", x, {0.0F, 0.0F, 3}).mismatches, 1);
  // Of the larger of two zeros nobody says the sign.
  EXPECT_TRUE(agreementOf("out = relu(x)", x, {0.0F, 0.0F, 3}).passed());
  EXPECT_TRUE(agreementOf("out = relu(x)", x, {-0.0F, -0.0F, 3}).passed());
}

TEST(Reference, WhatUnderflowsOnTheWayMayBeLost) {
  // 1e-45 has one bit left of the product, which the large factor shows again.
  const Comparison agreement = agreementOf("out = (x * x) * 1e30", {3.7e-23, 1}, {1.4e-15, 1e30});
  EXPECT_TRUE(agreement.passed());
  EXPECT_EQ(agreementOf("out = (x * x) * 1e30", {3.7e-23, 1}, {1.4e-12, 1e30}).mismatches, 1);
}

/// Of 2^100, 2^100, 2^-100, 2^-100 the order decides whether a partial product is an infinity.
TEST(Reference, PartialProductsMayLeaveTheRangeInSomeOrder) {
  const double big = std::ldexp(1.0, 100), small = 1 / big;
  const std::string body = "out = torch.prod(x, dim=-1, keepdim=True) + x * 0";
  auto agreement = [&](std::vector<double> x, double written) {
    return agreementOf(body, x, std::vector<double>(x.size(), written));
  };
  EXPECT_EQ(agreement({big, small, big, small}, inf).unverifiable, 4);
  EXPECT_EQ(agreement({big, big, 0, small}, std::nan("")).unverifiable, 4);
  // What underflows on the way is lost, as far as the others show it.
  EXPECT_TRUE(agreement({small, small, std::ldexp(1.0, 80)}, 0).passed());
  EXPECT_EQ(agreement({small, small, std::ldexp(1.0, 80)}, 0).unverifiable, 0);
  EXPECT_EQ(agreement({small, small, std::ldexp(1.0, 80)}, 1e-19).mismatches, 3);
  EXPECT_EQ(agreement({small, 1.5, std::ldexp(1.0, 80)}, 0).mismatches, 3);
  // Nothing leaves the range here, whatever the order.
  EXPECT_TRUE(agreement({big, 2, small, 3}, 6).passed());
  EXPECT_EQ(agreement({big, 2, small, 3}, 6.001).mismatches, 4);
  EXPECT_EQ(agreement({big, 2, small, 3}, inf).mismatches, 4);
  EXPECT_EQ(agreement({big, 0, 3}, 1).mismatches, 3);
}

/// Two sums of 1e38, of numbers whose magnitudes add up to three times as much: what a kernel that
/// adds all of them in another order passes through may be an infinity.
TEST(Reference, SumsOfSumsMayLeaveTheRangeInSomeOrder) {
  definition::Node node;
  node.op = "sum";
  const auto errorOf = [&](double magnitudes) {
    const Bounded part{1e38, magnitudes * std::ldexp(1.0, -24)};
    return reduceRule(node, std::vector<Bounded>{part, part}, ErrorModel{}).error;
  };
  EXPECT_EQ(errorOf(3e38), inf);
  EXPECT_LT(errorOf(0.5e38), 1e33);
}

/// x times a sigmoid that is no normal number any more, which 1 / (1 + exp(-x)) makes 0.
TEST(Reference, FactorsThatUnderflowMayBeLost) {
  const double lost = -90 * std::exp(-90.0), kept = -80 * std::exp(-80.0);
  EXPECT_TRUE(agreementOf("out = silu(x)", {-90, -80}, {-0.0, kept}).passed());
  EXPECT_TRUE(agreementOf("out = silu(x)", {-90, -80}, {lost, kept}).passed());
  EXPECT_EQ(agreementOf("out = silu(x)", {-90, -80}, {lost, 0}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = silu(x)", {-90, -80}, {2 * kept, kept}).mismatches, 1);
}

/// 1 + erf(x), which is 0 in float32 from -4 on down.
TEST(Reference, AnInfinityTimesWhatMayBeZeroIsOpen) {
  const std::string product = "out = (1 + erf(x)) * inf", quotient = "out = inf / (1 + erf(x))";
  for (const std::string &text : {product, quotient}) {
    std::string body = text;
    body.replace(body.find("inf"), 3, "float(\"inf\")");
    for (double written : {inf, -inf, std::nan("")}) {
      const Comparison agreement = agreementOf(body, {-6, 1}, {written, inf});
      EXPECT_TRUE(agreement.passed()) << body << written;
      EXPECT_EQ(agreement.unverifiable, 1) << body << written;
      EXPECT_EQ(agreementOf(body, {-6, 1}, {written, -inf}).mismatches, 1);
    }
  }
  // NaN takes them along.
  for (const char *body : {"out = (1 + erf(x)) * float(\"inf\") + float(\"nan\")",
                           "out = ((1 + erf(x)) * float(\"inf\")) * (x / 0 * 0)",
                           "out = torch.sum((1 + erf(x)) * float(\"inf\") - torch.where(x > 0, "
                           "1, 0) * float(\"inf\"), dim=-1, keepdim=True) + x"}) {
    const Comparison agreement = agreementOf(body, {-6, 1}, {std::nan(""), 1});
    EXPECT_EQ(agreement.unverifiable, 0) << body;
    EXPECT_EQ(agreement.mismatches, 1) << body;
  }
  // A number that is 0 and no other, and one that is not.
  EXPECT_EQ(agreementOf("out = (x - x) * float(\"inf\")", {1}, {inf}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = exp(x) * float(\"inf\")", {1}, {std::nan("")}).mismatches, 1);
  EXPECT_EQ(agreementOf("out = float(\"inf\") / exp(x)", {1}, {std::nan("")}).mismatches, 1);
}

TEST(Reference, HardswishOfMinusInfinityIsNaN) {
  EXPECT_TRUE(agreementOf("out = hardswish(x)", {-inf, inf}, {std::nan(""), inf}).passed());
  EXPECT_EQ(agreementOf("out = hardswish(x)", {-inf, inf}, {0, inf}).mismatches, 1);
}

/// The mean of equal numbers is off by its roundings, and so may a variance of 0 be, but upwards.
TEST(Reference, RootsOfWhatIsNeverNegativeHaveABound) {
  for (const char *variance :
       {"x.var(dim=-1, correction=0, keepdim=True)",
        "torch.mean(torch.square(x - x.mean(dim=-1, keepdim=True)), dim=-1, keepdim=True)"}) {
    const std::string body = "out = x * 0 + torch.sqrt(" + std::string(variance) + ")";
    const std::vector<double> third(3, 1.0F / 3);
    EXPECT_TRUE(agreementOf(body, third, {0, 1e-8, 0}).passed()) << body;
    EXPECT_EQ(agreementOf(body, third, {0, 0, 0}).unverifiable, 0) << body;
    EXPECT_EQ(agreementOf(body, third, {0, 1e-3, std::nan("")}).mismatches, 2) << body;
  }
  // A difference may be below 0: then the root is no number.
  EXPECT_EQ(agreementOf("out = sqrt(x - x.mean(dim=-1, keepdim=True))",
                        std::vector<double>(3, 1.0F / 3), {0, 0, 0})
                .unverifiable,
            3);
}

/// Squares leave the range of float32 where deviations are below 1e-19 or above 1e19.
TEST(Reference, SquaresOfDeviationsMayLeaveTheRange) {
  const std::string body = "out = x * 0 + x.std(dim=-1, keepdim=True)";
  const double root = std::sqrt(2.0);
  EXPECT_TRUE(agreementOf(body, {1, -1}, {root, root}).passed());
  EXPECT_EQ(agreementOf(body, {1, -1}, {root, 0}).mismatches, 1);
  EXPECT_TRUE(agreementOf(body, {1e25, -1e25}, {inf, 1e25 * root}).passed());
  EXPECT_EQ(agreementOf(body, {1e25, -1e25}, {inf, inf}).unverifiable, 2);
  EXPECT_TRUE(agreementOf(body, {1e-25, -1e-25}, {0, 1e-25 * root}).passed());
  EXPECT_EQ(agreementOf(body, {1e-25, -1e-25}, {1, 0}).mismatches, 1);
}

/// In float64 the reference cannot look beyond the range: what a fused operation gives is open.
TEST(Reference, ProductsAndSumsBeyondFloat64AreOpen) {
  Diagnostics diags;
  for (const char *body : {"out = x * x - x", "out = (x + x) - x", "out = x / (1 / x) - x",
                           "out = torch.sum(x, dim=-1, keepdim=True) + x * 0"}) {
    auto op = definition::parseOperator(
        "t.toml",
        std::string("[operator]\nname='t'\nsummary='s'\ndtypes=['float64']\nbody='") + body +
            "'\n[inputs.x]\nshape=['R', 'D']\n[outputs.out]\nshape=['R', 'D']\n"
            "[performance]\ncases=[{R=1, D=1}]\n",
        diags);
    ASSERT_TRUE(op) << diags.render();
    Tensor x = Tensor::empty({1, 2}, DType::F64), out = Tensor::empty({1, 2}, DType::F64);
    for (int64_t i = 0; i < 2; ++i) {
      x.set(i, 1.5e308);
      out.set(i, 1);
    }
    const std::vector<Tensor> in = {x}, written = {out};
    auto agreement =
        checkOutputs(*op, in, written, DType::F64, Rounding::OncePerResult, runtime::defaultPool());
    ASSERT_TRUE(agreement);
    EXPECT_EQ(agreement->unverifiable, 2) << body;
    // An infinity that was given stays one.
    x.set(0, inf);
    x.set(1, inf);
    agreement =
        checkOutputs(*op, in, written, DType::F64, Rounding::OncePerResult, runtime::defaultPool());
    ASSERT_TRUE(agreement);
    EXPECT_EQ(agreement->mismatches, 2) << body;
  }
}

/// The sigmoid is no normal number, and 0 where a kernel flushes it.
TEST(Reference, GradientsOfFlushedSigmoidsMayBeLost) {
  const double lost = std::exp(-88.0) * 4, kept = std::exp(-80.0) * 4;
  const std::string body = "out = log_sigmoid_backward(x * 0 + 4, x)";
  EXPECT_TRUE(agreementOf(body, {88, 80}, {0, kept}).passed());
  EXPECT_TRUE(agreementOf(body, {88, 80}, {lost, kept}).passed());
  EXPECT_EQ(agreementOf(body, {88, 80}, {lost, 0}).mismatches, 1);
}

TEST(Reference, SoftmaxOfHugeNumbersIsKnown) {
  const std::vector<double> x = {3e37F, -1e37F, 2.9999e37F, 0}, right = {1, 0, 0, 0};
  const std::string body = "out = softmax(x, dim=-1)";
  const Comparison agreement = agreementOf(body, x, right);
  EXPECT_EQ(agreement.unverifiable, 0);
  EXPECT_TRUE(agreement.passed());
  // Without the maximum: infinity over infinity.
  EXPECT_EQ(agreementOf(body, x, {std::nanf(""), 0, 0, 0}).mismatches, 1);
  EXPECT_EQ(agreementOf(body, x, {0, 1, 0, 0}).mismatches, 2);
}

TEST(Reference, SoftmaxOfHugeComputedNumbersIsOpen) {
  // x * 1.5 - maximum in one step is not 0 where the maximum comes from, but a rounding error.
  const Comparison agreement =
      agreementOf("out = softmax(x * 1.7, dim=-1)", {3e37, -1e37, 2.9999e37, 0}, {1, 0, 0, 0});
  EXPECT_GT(agreement.unverifiable, 0);
}

TEST(Reference, SoftmaxOfNumbersThatAreFarOffIsAShare) {
  // Each sum may be off by some hundred, of which exp alone would leave the range.
  const std::string y = "((x + 3e9) - 3e9)";
  const std::vector<double> x = {1, 2, 3, 4};
  const std::string shares = "out = softmax(" + y + ", dim=-1)";
  const Comparison any = agreementOf(shares, x, {0, 1, 0, 0});
  EXPECT_EQ(any.unverifiable, 0);
  EXPECT_TRUE(any.passed());
  EXPECT_EQ(agreementOf(shares, x, {2.5, -2.5, std::nanf(""), HUGE_VALF}).mismatches, 4);
  const Comparison logarithms =
      agreementOf("out = log_softmax(" + y + ", dim=-1)", x, {-256, 0, -256, 0});
  EXPECT_EQ(logarithms.unverifiable, 0);
  EXPECT_TRUE(logarithms.passed());
  // What is subtracted is the maximum here and another number there: exp may leave the range.
  const std::string top = "torch.where(x > 0, " + y + ".amax(dim=-1, keepdim=True), 0)";
  EXPECT_GT(
      agreementOf("out = exp(" + y + " - " + top + ")", {1, 2, -3, 4}, {1, 1, 1, 1}).unverifiable,
      0);
}

TEST(Reference, ZeroByWhatMayBeZeroIsOpen) {
  // The squares are below the range of float32: a root of 0, by which 0 is divided.
  const std::string ratio = "out = (x * 0) / torch.sqrt((x * x).sum(dim=-1, keepdim=True))";
  EXPECT_EQ(agreementOf(ratio, {1e-30, 2e-30}, {std::nanf(""), 0}).unverifiable, 2);
  EXPECT_EQ(agreementOf(ratio, {3, 4}, {0, 0}).unverifiable, 0);
  EXPECT_EQ(agreementOf(ratio, {3, 4}, {std::nanf(""), 0}).mismatches, 1);
}

TEST(Reference, WrongTensorsAreRefused) {
  Operator op = shipped("broadcast_add");
  std::vector<Tensor> in = {make({2, 3}, {1, 2, 3, 4, 5, 6}), make({4}, {1, 2, 3, 4})};
  EXPECT_EQ(runReference(op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool())
                .error()
                .code,
            "E0604");
  in[1] = make({3}, {1, 2, 3});
  std::vector<Tensor> out = {make({3, 2}, {})};
  EXPECT_EQ(checkOutputs(op, in, out, DType::F32, Rounding::OncePerResult, runtime::defaultPool())
                .error()
                .code,
            "E0604");
}

TEST(Reference, NumbersMadeOfSizesAreThoseOfTheCase) {
  const std::string text = R"([operator]
name = "t"
summary = "s"
dtypes = ["float32"]
body = """
out = (x - x.sum(dim=-1, keepdim=True) / D) / math.sqrt(D) + N ** 2
"""
[inputs.x]
shape = ["N", "D"]
[outputs.out]
shape = ["N", "D"]
[performance]
cases = [{ N = 3, D = 4 }]
)";
  Diagnostics diags;
  const auto op = definition::parseOperator("t.toml", text, diags);
  ASSERT_TRUE(op) << diags.render();
  const std::vector<Tensor> in = {make({2, 4}, {1, 2, 3, 6, 0, 0, 0, 4})};
  auto outputs = runGraph(*op, in, runtime::defaultPool());
  ASSERT_TRUE(bool(outputs)) << render(outputs.error());
  EXPECT_EQ(list((*outputs)[0]), (std::vector<double>{3, 3.5, 4, 5.5, 3.5, 3.5, 3.5, 5.5}));
  auto agreement =
      checkOutputs(*op, in, *outputs, DType::F32, Rounding::EachOperation, runtime::defaultPool());
  ASSERT_TRUE(bool(agreement)) << render(agreement.error());
  EXPECT_EQ(agreement->mismatches, 0);
  (*outputs)[0].set(0, 3.001);
  agreement =
      checkOutputs(*op, in, *outputs, DType::F32, Rounding::EachOperation, runtime::defaultPool());
  EXPECT_EQ(agreement->mismatches, 1);
}

} // namespace
} // namespace nereid::eager
