// SPDX-License-Identifier: Apache-2.0
// What programs mean: the naive evaluator against values written down by hand.
#include "lib/generator/program/Evaluate.h"
#include "unittests/generator/program/Reading.h"

#include <cmath>

namespace nereid::generator {
namespace {

using Values = std::vector<double>;
const double nan = std::nan("");

/// y of a program with x and y of four elements each, and what `stores` says.
Values run(const std::string &stores, const Values &x = {3, 1, 2, 1}) {
  Program p = program("x = input(fp32, [4])\ny = output(fp32, [4])\ni = iterator(4)\n"
                      "r = iterator(4)\ns = iterator(4)\nstage(\"s\")\n" +
                      stores);
  auto memory = evaluate(p, {{}, {{"eps", 0.5}}, {{"x", x}}});
  EXPECT_TRUE(bool(memory)) << (memory ? "" : memory.error().message);
  return memory ? memory->at("y") : Values{};
}

std::string fault(const std::string &text, EvaluationInput input) {
  auto memory = evaluate(program(text), std::move(input));
  return memory ? "" : memory.error().message;
}

TEST(Evaluation, PointwiseAndViews) {
  EXPECT_EQ(run("y[i] = x[3 - i] + parameter(\"eps\", fp32)\n"), (Values{1.5, 2.5, 1.5, 3.5}));
  EXPECT_EQ(run("y[i] = cast(index(3*i - 1), fp32)\n"), (Values{-1, 2, 5, 8}));
  EXPECT_EQ(run("y[i] = where(index(i) >= 1, x[i - 1], -1.0)\n"), (Values{-1, 3, 1, 2}));
}

TEST(Evaluation, ReductionsScansAndOrders) {
  EXPECT_EQ(run("y[i] = sum[r](x[r])\n"), (Values{7, 7, 7, 7}));
  EXPECT_EQ(run("y[i] = pick(argmin[r](x[r], cast(index(r), fp32)), 1)\n"), (Values{1, 1, 1, 1}));
  EXPECT_EQ(run("y[i] = max[r](x[r])\n", {1, nan, 2, 0})[0] > 0, false) << "NaN wins";
  EXPECT_EQ(run("y[i] = scan(\"sum\", r, x[r], at=i)\n"), (Values{3, 4, 6, 7}));
  EXPECT_EQ(run("y[i] = scan(\"sum\", r, x[r], at=i, exclusive=True)\n"), (Values{0, 3, 4, 6}));
  EXPECT_EQ(run("y[i] = scan(\"sum\", r, x[r], at=i, reverse=True)\n"), (Values{7, 4, 3, 1}));
  EXPECT_EQ(run("y[i] = pick(order(r, x[r]), 0, i)\n"), (Values{1, 1, 2, 3}));
  EXPECT_EQ(run("y[i] = cast(pick(order(r, x[r]), 1, i), fp32)\n"), (Values{1, 3, 2, 0}));
  EXPECT_EQ(run("y[i] = cast(pick(order(r, x[r], descending=True), 1, i), fp32)\n"),
            (Values{0, 2, 1, 3}));
}

TEST(Evaluation, MonoidsOfSeveralComponents) {
  // Mean and variance of 3, 1, 2, 1; log of the sum of exponentials.
  const std::string moments = "t_1 = welford[r](1.0, x[r], 0.0, 0.0)\n";
  EXPECT_EQ(run(moments + "y[i] = pick(t_1, 1)\n")[0], 1.75);
  EXPECT_NEAR(run(moments + "y[i] = pick(t_1, 2)\n")[0], 0, 1e-12);
  EXPECT_NEAR(run(moments + "y[i] = pick(t_1, 3)\n")[0], 2.75, 1e-12);
  // About 2 in place of their own means: what they are off is in the sums.
  EXPECT_NEAR(
      run("y[i] = pick(welford[r](1.0, 2.0, x[r] - 2.0, (x[r] - 2.0)*(x[r] - 2.0)), 3)\n")[0],
      1 + 1 + 0 + 1, 1e-12);
  const std::string pair = "t_1 = logsumexp[r](x[r], 1.0)\n";
  EXPECT_NEAR(run(pair + "y[i] = pick(t_1, 0) + log(pick(t_1, 1))\n")[0],
              std::log(std::exp(3) + 2 * std::exp(1) + std::exp(2)), 1e-12);
}

TEST(Evaluation, StagesSeeWhatWasWritten) {
  EXPECT_EQ(run("y[i] = x[i]\nstage(\"t\")\nstore(y[0], 10.0 * y[0])\n"), (Values{30, 1, 2, 1}));
  EXPECT_EQ(
      run("y[i] = 0.0\nstage(\"t\")\nstore(y[data(cast(x[i], i64), 4)], 1.0, monoid=\"sum\")\n"),
      (Values{0, 2, 1, 1}));
}

TEST(Evaluation, PhiloxGivesItsPublishedNumbers) {
  // Counter and key 0, from the test vectors of its authors: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  Program p = program("y = output(u32, [1])\nstage(\"s\")\ny[0] = random(0, 0)\n");
  EXPECT_EQ(evaluate(p, {})->at("y"), (Values{0x6627e8d5}));
}

TEST(Evaluation, FaultsAreTold) {
  const std::string head = "N = size()\nx = input(fp32, [N])\ny = output(fp32, [N])\n"
                           "k = input(i64, [1])\ni = iterator(N)\nstage(\"s\")\n";
  EvaluationInput input{{2}, {}, {{"x", {1, 2}}, {"k", {7}}}};
  EXPECT_EQ(fault(head + "y[i] = x[i + 1]\n", input), "index 0 of 'x' is 2, but its size is 2");
  EXPECT_EQ(fault(head + "y[i] = x[data(k[0], N)]\n", input),
            "an index is 7, but was promised in [0, 2)");
  EXPECT_EQ(fault(head + "y[i] = gelu(x[i])\n", input), "'gelu' is no primitive operation");
  EXPECT_EQ(fault(head + "y[i] = parameter(\"eps\", fp32)\n", input),
            "parameter 'eps' has no value");
  input.sizes = {3};
  EXPECT_EQ(fault(head + "y[i] = x[i]\n", input), "'x' has 2 elements, but needs 3");
  input.sizes = {0};
  EXPECT_EQ(fault(head + "y[i] = x[i]\n", input), "the sizes break a range, a multiple or a fact");
}

} // namespace
} // namespace nereid::generator
