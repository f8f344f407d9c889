// SPDX-License-Identifier: Apache-2.0
// What the reference takes as certain where numbers leave the range of their type on the way: an
// infinity or NaN that every right implementation has, and no other.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <cmath>

namespace nereid::eager {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

struct Given {
  std::string name, shape; ///< "'N', 'K'"
  Tensor tensor;
};

Given given(const std::string &name, const std::string &shape, std::vector<int64_t> sizes,
            const std::vector<double> &values, DType type = DType::F32) {
  return {name, shape, make(std::move(sizes), values, type)};
}

/// The one output, of the shape, for an operator of the type.
ReferenceOutput referenceOf(const std::string &body, const std::vector<Given> &inputs,
                            const std::string &shape, DType type = DType::F32,
                            DType result = DType::F32) {
  auto typed = [&](DType of) {
    return of == type ? "" : "dtype='" + std::string(torchName(of)) + "'\n";
  };
  std::string text = "[operator]\nname='t'\nsummary='s'\ndtypes=['" + std::string(torchName(type)) +
                     "']\nbody='" + body + "'\n";
  std::vector<Tensor> tensors;
  for (const Given &input : inputs) {
    text += "[inputs." + input.name + "]\nshape=[" + input.shape + "]\n";
    text += typed(input.tensor.dtype());
    tensors.push_back(input.tensor);
  }
  text += "[outputs.out]\nshape=[" + shape + "]\n" + typed(result) + "[performance]\ncases=[{";
  for (const char size : {'N', 'K', 'M', 'D'}) {
    const bool isUsed = text.find("'" + std::string(1, size) + "'") != std::string::npos;
    text += isUsed ? (text.back() == '{' ? "" : ",") + std::string(1, size) + "=8" : "";
  }
  Diagnostics diags;
  auto op = definition::parseOperator("t.toml", text + "}]\n", diags);
  EXPECT_TRUE(op) << diags.render();
  auto outputs = runReference(*op, tensors, type, Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(outputs);
  return std::move((*outputs)[0]);
}

/// Of x: [N, D] alone.
ReferenceOutput ofRow(const std::string &body, const std::vector<double> &x,
                      const std::string &shape = "'N', 'D'", DType type = DType::F32) {
  const auto n = static_cast<int64_t>(x.size());
  return referenceOf(body, {given("x", "'N', 'D'", {1, n}, x, type)}, shape, type, type);
}

ReferenceOutput product(const std::string &body, const std::vector<double> &x,
                        const std::vector<double> &w, DType type = DType::F32) {
  const auto n = static_cast<int64_t>(x.size());
  return referenceOf(
      body, {given("x", "'N', 'K'", {1, n}, x, type), given("w", "'K', 'M'", {n, 1}, w, type)},
      "'N', 'M'", type, type);
}

void expectOpen(const ReferenceOutput &output, int64_t i = 0) {
  EXPECT_EQ(output.bounds.at(i), infinity) << output.values.at(i);
}

void expectCertain(const ReferenceOutput &output, double value, int64_t i = 0) {
  const double found = output.values.at(i);
  EXPECT_TRUE(found == value || (std::isnan(found) && std::isnan(value))) << found;
  EXPECT_EQ(output.bounds.at(i), 0) << found;
}

TEST(Certainty, AnInfinityIsOpenBesideProductsThatMayReachTheOther) {
  const char *body = "out = x @ w";
  expectOpen(product(body, {infinity, 3e38}, {1, -10}));
  expectCertain(product(body, {infinity, 3e38}, {1, 10}), infinity);
  expectCertain(product(body, {infinity, 3e38}, {1, -1}), infinity);
  expectCertain(product(body, {infinity, 3e38}, {1, -10}, DType::F64), infinity);
  expectCertain(product(body, {infinity, infinity, 3e38}, {1, -1, 10}), nan);
  expectCertain(product(body, {infinity, 3e38, 3e38}, {0, -10, 10}), nan);
  expectOpen(product(body, {3e38, 3e38}, {10, -10}));
}

TEST(Certainty, AConvolutionIsSuchASum) {
  auto convolved = [](const std::vector<double> &w) {
    return referenceOf("out = F.conv2d(x, w)",
                       {given("x", "'N', 1, 1, 2", {1, 1, 1, 2}, {infinity, 3e38}),
                        given("w", "'M', 1, 1, 2", {1, 1, 1, 2}, w)},
                       "'N', 'M', 1, 1");
  };
  expectOpen(convolved({1, -10}));
  expectCertain(convolved({1, 10}), infinity);
  expectCertain(convolved({0, -10}), nan);
}

/// Results that read no infinity are those of the same data without it, also in their bounds.
TEST(Certainty, AnInfinityChangesOnlyTheResultsThatReadIt) {
  constexpr int64_t rows = 6, columns = 7;
  std::vector<double> finite, weights;
  for (int64_t i = 0; i < 2 * rows * columns; ++i) {
    finite.push_back(static_cast<double>(static_cast<float>(std::sin(1.0 + i))));
  }
  for (int64_t i = 0; i < 2 * 9; ++i) {
    weights.push_back(static_cast<double>(static_cast<float>(std::cos(1.0 + i))));
  }
  const auto convolved = [&](const std::vector<double> &x, const std::vector<double> &w) {
    return referenceOf("out = F.conv2d(x * 1.1, w, padding=1, groups=2, stride=(1, 2))",
                       {given("x", "'N', 2, 6, 7", {1, 2, rows, columns}, x),
                        given("w", "2, 1, 3, 3", {2, 1, 3, 3}, w)},
                       "'N', 2, 6, 4");
  };
  const ReferenceOutput plain = convolved(finite, weights);
  std::vector<double> x = finite, w = weights;
  x[2 * columns + 3] = infinity; // read by rows 1 to 3 and columns 1 and 2 of the first group
  const ReferenceOutput ofInput = convolved(x, w);
  w[9 + 4] = infinity; // of the second feature
  const ReferenceOutput ofWeight = convolved(finite, w);
  for (int64_t i = 0; i < 2 * rows * 4; ++i) {
    const int64_t row = i / 4 % rows, column = i % 4;
    const bool isSecond = i >= rows * 4;
    const bool reads = !isSecond && row >= 1 && row <= 3 && (column == 1 || column == 2);
    EXPECT_EQ(std::isinf(ofInput.values.at(i)), reads) << i;
    EXPECT_LT(ofInput.bounds.at(i), 1) << i; // nothing is lost beside it
    EXPECT_EQ(!std::isfinite(ofWeight.values.at(i)), isSecond) << i;
    if (!reads) {
      EXPECT_EQ(ofInput.values.at(i), plain.values.at(i)) << i;
      EXPECT_EQ(ofInput.bounds.at(i), plain.bounds.at(i)) << i;
    }
    if (!isSecond) {
      EXPECT_EQ(ofWeight.values.at(i), plain.values.at(i)) << i;
    }
  }
}

TEST(Certainty, AnInfinityChangesOnlyTheRowAndTheColumnOfAProductThatHaveIt) {
  const auto multiplied = [](double left, double right) {
    return referenceOf("out = (x * 1.1) @ w",
                       {given("x", "'N', 2", {3, 2}, {1, 2, left, 4, 5, 6}),
                        given("w", "2, 'M'", {2, 3}, {7, 8, 9, 10, 11, right})},
                       "'N', 'M'");
  };
  const ReferenceOutput plain = multiplied(3, 12), row = multiplied(infinity, 12),
                        both = multiplied(infinity, nan);
  for (int64_t i = 0; i < 9; ++i) {
    const bool isRow = i / 3 == 1, isColumn = i % 3 == 2;
    EXPECT_EQ(row.values.at(i), isRow ? infinity : plain.values.at(i)) << i;
    EXPECT_LT(row.bounds.at(i), 1) << i; // nothing is lost beside it
    EXPECT_EQ(std::isnan(both.values.at(i)), isColumn) << i;
    if (!isRow && !isColumn) {
      EXPECT_EQ(both.values.at(i), plain.values.at(i)) << i;
      EXPECT_EQ(both.bounds.at(i), plain.bounds.at(i)) << i;
    }
  }
}

TEST(Certainty, WhatIsLostLosesAProductButForNaN) {
  const char *body = "out = torch.exp(x) @ w"; // of 100: beyond float32, and not surely infinite
  const ReferenceOutput open = product(body, {100, 0}, {1, 1});
  expectOpen(open);
  EXPECT_GT(open.values.at(0), 2e43); // for finite differences
  expectOpen(product(body, {100, 0}, {0, 1}));
  expectOpen(product(body, {100, 0}, {infinity, 1}));
  expectCertain(product(body, {100, 0}, {1, nan}), nan);
  expectCertain(product(body, {-infinity, 0}, {infinity, 1}), nan);
  // In the reference's own arithmetic these are infinities of both signs.
  expectOpen(product("out = (x * 1e38 * 1e38) @ w", {3e38, 3e38}, {1, -1}));
}

TEST(Certainty, Float64AmongOtherTypesIsComputedAsSuch) {
  auto inFloat64 = [](const std::vector<double> &x, const std::vector<double> &w) {
    const auto n = static_cast<int64_t>(x.size());
    return referenceOf(
        "out = x.double() @ w",
        {given("x", "'N', 'K'", {1, n}, x), given("w", "'K', 'M'", {n, 1}, w, DType::F64)},
        "'N', 'M'", DType::F32, DType::F64);
  };
  expectOpen(inFloat64({1e30, 1e30}, {1e300, -1e300}));
  const ReferenceOutput third = inFloat64({0.3125}, {1.0 / 3});
  EXPECT_LT(third.bounds.at(0), 1e-16);
  EXPECT_GT(third.bounds.at(0), 0);
}

TEST(Certainty, AFunctionOfWhatMayLieOnEitherSideIsOpen) {
  expectOpen(ofRow("out = torch.log((x - 1e-8) - x)", {1}));
  expectCertain(ofRow("out = torch.log(x * -1.1)", {1}), nan);
  expectOpen(ofRow("out = torch.rsqrt((x - 1e-8) - x)", {1}));
  expectOpen(ofRow("out = torch.acos(x * 1.1)", {0.90909094}));
  expectCertain(ofRow("out = torch.acos(x * 1.1)", {2}), nan);
  expectOpen(ofRow("out = torch.exp((x + 1e11) - 1e11)", {800}));
  expectCertain(ofRow("out = torch.exp(x * 1.1)", {800}), infinity);
  expectOpen(ofRow("out = torch.exp((x + 1e10) - 1e10)", {709.782713}, "'N', 'D'", DType::F64));
  // Two factors scale it, of which one is finite.
  for (const double finite : {710.0, 1419.0}) {
    expectOpen(ofRow("out = torch.exp(x)", {finite}, "'N', 'D'", DType::F64));
    expectOpen(ofRow("out = torch.exp2(x)", {finite + 600}, "'N', 'D'", DType::F64));
  }
  expectCertain(ofRow("out = torch.exp(x)", {1420}, "'N', 'D'", DType::F64), infinity);
  expectCertain(ofRow("out = torch.exp2(x)", {2048}, "'N', 'D'", DType::F64), infinity);
}

TEST(Certainty, SumsOfNumbersMayMeetAnInfinityAsTheOther) {
  const char *body = "out = x.sum(dim=-1)";
  expectOpen(ofRow(body, {3e38, 3e38, -infinity}, "'N'"));
  expectCertain(ofRow(body, {3e38, 3e38, infinity}, "'N'"), infinity);
  expectCertain(ofRow(body, {3e38, -3e38, -infinity}, "'N'"), -infinity);
  expectOpen(ofRow("out = x.mean(dim=-1)", {-3e38, -3e38, infinity}, "'N'"));
  const ReferenceOutput running =
      ofRow("out = torch.cumsum(x, dim=-1)", {3e38, infinity, 3e38, -3e38, -3e38});
  expectCertain(running, infinity, 1);
  expectCertain(running, infinity, 3);
  expectOpen(running, 4);
  // What takes the mean off takes an infinity from itself.
  expectCertain(ofRow("out = torch.var(x, dim=-1)", {3e38, 3e38, -infinity}, "'N'"), nan);
}

TEST(Certainty, ZerosOfSumsHaveNoSign) {
  expectOpen(ofRow("out = 1.0 / x.sum(dim=-1)", {0, -0.0}, "'N'"));
  expectOpen(ofRow("out = torch.rsqrt(x.sum(dim=-1))", {0, -0.0}, "'N'"));
  expectOpen(ofRow("out = 1.0 / torch.relu(x)", {-0.0}));
  expectCertain(ofRow("out = 1.0 / x", {-0.0}), -infinity);
  expectCertain(ofRow("out = torch.rsqrt(x)", {-0.0}), -infinity);
  expectCertain(ofRow("out = 1.0 / (x * x).sum(dim=-1)", {0, -0.0}, "'N'"), infinity);
  expectCertain(ofRow("out = x / x.sum(dim=-1, keepdim=True)", {0, -0.0}), nan);
  expectCertain(product("out = torch.log(x @ w)", {0, -0.0}, {1, 1}), -infinity);
}

TEST(Certainty, NumbersOfSizesAreInfiniteForAll) {
  expectCertain(ofRow("out = x * (2 / (D - 1))", {1.5}), infinity);
  expectCertain(ofRow("out = x * 0.0 * (2 / (D - 1))", {1.5}), nan);
}

/// The extremum is one of the elements, however far off they are.
TEST(Certainty, TheLargestElementEqualsTheLargest) {
  for (const char *body : {"t = x * 1.1\nout = (t == t.amax(dim=-1, keepdim=True)).to(t.dtype)",
                           "t = x * -1.1\nout = (t == t.amin(dim=-1, keepdim=True)).to(t.dtype)"}) {
    const ReferenceOutput equal = ofRow("\'\'" + std::string(body) + "\'\'", {1, 3, 2, -4});
    expectCertain(equal, 0, 0);
    expectCertain(equal, 1, 1);
    expectCertain(equal, 0, 3);
    const ReferenceOutput near = ofRow("\'\'" + std::string(body) + "\'\'", {1, 3, 3, 2});
    expectCertain(near, 0, 0);
    EXPECT_GT(near.bounds.at(1), 0);
    EXPECT_GT(near.bounds.at(2), 0);
    expectCertain(near, 0, 3);
  }
}

/// Products of errors lie below the smallest numbers of float64.
TEST(Certainty, QuotientsOfTheSmallestNumbersHaveTheRoundingsOfTheirSums) {
  const ReferenceOutput shares = ofRow("out = x / x.sum(dim=-1, keepdim=True)",
                                       {1e-310, 3e-308, 2e-308, 5e-308}, "'N', 'D'", DType::F64);
  EXPECT_GT(shares.bounds.at(0), 2e-16 * shares.values.at(0));
}

TEST(Certainty, ABoundThatReachesInfinityLetsItPassOnEitherSide) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname='t'\nsummary='s'\ndtypes=['float16']\nbody='out = (x * 1e10 + 1) - x * "
      "1e10'\n[inputs.x]\nshape=['D']\n[outputs.out]\nshape=['D']\n[performance]\ncases=[{D=1}]\n",
      diags);
  ASSERT_TRUE(op) << diags.render();
  const std::vector<Tensor> in = {make({2}, {1e4, 1e-10}, DType::F16)};
  auto passes = [&](double first, double second) {
    const std::vector<Tensor> out = {make({2}, {first, second}, DType::F16)};
    auto agreement =
        checkOutputs(*op, in, out, DType::F16, Rounding::OncePerResult, runtime::defaultPool());
    return agreement && agreement->passed();
  };
  EXPECT_TRUE(passes(1, 1));
  EXPECT_TRUE(passes(infinity, 1));
  EXPECT_TRUE(passes(-infinity, 1));
  EXPECT_FALSE(passes(nan, 1));
  EXPECT_FALSE(passes(1, infinity));
}

/// Products that are 0 in float64 may add up to a number where a product and a sum are fused.
TEST(Certainty, SumsOfProductsThatFloat64RoundsToZeroMayBeNumbers) {
  const ReferenceOutput sum =
      product("out = x @ w", {1.35e-162, 1.35e-162}, {-1.35e-162, -1.35e-162}, DType::F64);
  EXPECT_NE(sum.values.at(0), 0);
  EXPECT_GE(sum.bounds.at(0), -sum.values.at(0));
}

ReferenceOutput ofTwo(const std::string &body, double x, double y) {
  return referenceOf(
      body, {given("x", "'N', 'D'", {1, 1}, {x}), given("y", "'N', 'D'", {1, 1}, {y})}, "'N', 'D'");
}

/// Its exponent is rounded.
ReferenceOutput lowerPower(double x, double y) { return ofTwo("out = x ** (y - 1)", x, y); }

TEST(Certainty, APowerOfANegativeNumberIsNoneUnlessItsExponentMayBeWhole) {
  expectCertain(lowerPower(-2, 0.3), nan);
  expectCertain(lowerPower(-2e-38, 1.3), nan);
  EXPECT_LT(lowerPower(-2, 3).bounds.at(0), 1e-5);
  for (const char *whole : {"out = x ** (x * 1.1 + 5.2)", "out = (x * 1.1) ** (x * 1.1 + 0.2)",
                            "out = ((x - 1e-9) - x) ** 0.3"}) {
    expectOpen(ofRow(whole, {-2}));
  }
  expectCertain(ofRow("out = (x * 1.1) ** 0.3", {-2}), nan);
  EXPECT_LT(ofRow("out = (x * 1.1) ** 3", {-2}).bounds.at(0), 1e-5);
  EXPECT_LT(ofRow("out = ((x - 1e-9) - x) ** 3", {1}).bounds.at(0), 1e-18);
}

TEST(Certainty, APowerOfNoNumberIsNoneUnlessItsExponentMayBeZero) {
  expectCertain(lowerPower(nan, 0.3), nan);
  expectCertain(lowerPower(2, nan), nan);
  expectCertain(ofTwo("out = (x * y) ** (x * 1.1)", 2, nan), nan);
  expectOpen(ofTwo("out = (x * y) ** ((x - 1e-9) - x)", 1, nan));
  expectOpen(ofTwo("out = ((x - 1e-9) / x) ** (x * y)", 1, nan));
  EXPECT_LT(ofTwo("out = (x * y) ** 0", 1, nan).bounds.at(0), 1e-6);
}

TEST(Certainty, APowerOfNegativeZeroIsNegativeWhereItsExponentIsOdd) {
  const double even = 113881612288; // less 1 it is odd, but not in float32
  expectOpen(lowerPower(-0.0, -even));
  expectOpen(lowerPower(-infinity, even));
  expectCertain(lowerPower(0, -even), infinity);
  expectCertain(lowerPower(-0.0, -0.3), infinity);
  expectCertain(lowerPower(-infinity, 1.3), infinity);
  EXPECT_GT(lowerPower(-0.0, even).bounds.at(0), 0);
  EXPECT_LT(lowerPower(-0.0, even).bounds.at(0), 2e-38);
}

/// A fused product and sum rounds once, to a zero of the other sign.
TEST(Certainty, ZerosThatFloat64RoundsToMayBeOfEitherSign) {
  for (const char *body : {"out = x * x - x * x", "out = x / 1e300 - x * x"}) {
    const ReferenceOutput lost = ofRow(body, {1e-200, 0}, "'N', 'D'", DType::F64);
    EXPECT_GT(lost.bounds.at(0), 0) << body;
    EXPECT_EQ(lost.bounds.at(1), 0) << body;
  }
}

} // namespace
} // namespace nereid::eager
