// SPDX-License-Identifier: Apache-2.0
// Reductions that need another one, made in its walk (fuse/OnlineReductions.h): beside the
// evaluator, infinite elements and NaN in whichever turn, near misses, and what is lost where
// distances are small beside the mean.
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"
#include "unittests/generator/template/LineData.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nereid::generator {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = NAN;

/// Rows of x and what is made of them at `y[i, j]`; of columns where the places are turned.
std::string rows(const std::string &stage) {
  return R"(
R = size()
N = size()
x = input(fp32, [R, N], strides=[N, 1])
w = input(fp32, [R, N], strides=[N, 1])
y = output(fp32, [R, N], strides=[N, 1])
v = output(fp32, [R], strides=[1])
i = iterator(R)
j = iterator(N)
k = iterator(N)
stage("t")
)" + stage;
}

const std::string softmax = rows("top = max[k](x[i, k])\ntotal = sum[k](exp(x[i, k] - top))\n"
                                 "y[i, j] = exp(x[i, j] - top) / total\n");
const std::string logSumExp = rows("top = max[k](x[i, k])\n"
                                   "shift = where(abs(top) < fp32(\"inf\"), top, fp32(0.0))\n"
                                   "v[i] = log(sum[k](exp(x[i, k] - shift))) + shift\n");
const std::string withTop = rows("top = max[k](x[i, k])\n"
                                 "y[i, j] = top / sum[k](exp(x[i, k] - top)) + x[i, j]\n");
const std::string ofTwo = rows("s = x[i, k] * w[i, k] + fp32(1.0)\ntop = max[k](s)\n"
                               "v[i] = log(sum[k](exp(s - top))) + top\n");
const std::string moments =
    rows("mean = sum[k](x[i, k]) / cast(index(N), fp32)\n"
         "away = x[i, k] - mean\n"
         "y[i, j] = (x[i, j] - mean) * rsqrt(sum[k](away * away) + 0.001)\n");
const std::string offTheTop =
    rows("away = max[k](x[i, k]) - x[i, k]\nv[i] = sum[k](away * away)\n");
const std::string both = rows("mean = sum[k](x[i, k]) / cast(index(N), fp32)\n"
                              "away = x[i, k] - mean\ntop = max[k](x[i, k])\n"
                              "v[i] = sum[k](away * away) / sum[k](exp(x[i, k] - top))\n");

std::vector<RunOptions> inPieces() {
  std::vector<RunOptions> all(6);
  for (RunOptions &each : all) {
    each.isLooped = true;
  }
  all[1].isWide = true;
  all[2].isSplit = true;
  all[3].isSplit = true;
  all[3].hasSmallBlocks = false;
  all[4].on = RunOn::Cpu;
  all[5].on = RunOn::Cpu;
  all[5].hasSmallBlocks = false;
  return all;
}

/// Loops of the kernel that walks over rows.
size_t walksOf(const std::string &text) {
  Program written = program(text);
  const std::string module = textOf(written);
  const size_t begin = module.find("t_looped_kernel(\n");
  const std::string kernel = module.substr(begin, module.find("\n\n\n", begin) - begin);
  size_t walks = 0;
  for (size_t at = 0; (at = kernel.find("    for start", at)) != std::string::npos; ++at) {
    ++walks;
  }
  return walks;
}

TEST(OnlineReductions, AreWhatTheEvaluatorSays) {
  for (const std::string &text : {softmax, logSumExp, withTop, ofTwo, moments, offTheTop, both}) {
    for (const int64_t length : {1, 2, 3, 65, 1000}) {
      SCOPED_TRACE(text + std::to_string(length));
      const auto count = 3 * static_cast<size_t>(length);
      for (const RunOptions &options : inPieces()) {
        Program written = program(text);
        expectEvaluated(written, {{3, length}, {}, {{"x", lineOf(count)}, {"w", lineOf(count)}}},
                        options, 1e-5);
      }
    }
  }
}

/// An element that is none may be in the first turn, in a later one, or in all of them.
TEST(OnlineReductions, OfInfiniteElementsAndNaN) {
  const std::vector<std::vector<double>> lines = {
      {-infinity, -infinity, -infinity, -infinity, -infinity},
      {-infinity, -infinity, 1, 2, -infinity},
      {1, -infinity, -infinity, -infinity, -infinity},
      {1, 2, infinity, 3, 4},
      {infinity, 2, 3, 4, infinity},
      {infinity, -infinity, 1, 2, 3},
      {nan, 1, 2, 3, 4},
      {1, 2, 3, 4, nan},
      {infinity, 1, 2, 3, nan},
      {nan, 1, 2, infinity, 4},
      {-infinity, -infinity, -infinity, -infinity, nan},
      {1e15, 1, -1e15, 1e15, 2},
      {nan, nan, nan, nan, nan}};
  std::vector<double> x;
  for (const std::vector<double> &line : lines) {
    x.insert(x.end(), line.begin(), line.end());
  }
  const auto count = static_cast<int64_t>(lines.size());
  for (const std::string &text : {softmax, logSumExp, withTop, moments}) {
    for (const RunOptions &options : inPieces()) {
      SCOPED_TRACE(text);
      Program written = program(text);
      expectEvaluated(written, {{count, 5}, {}, {{"x", x}, {"w", x}}}, options, 1e-5);
    }
  }
}

TEST(OnlineReductions, SaveAWalk) {
  EXPECT_EQ(walksOf(softmax), 2u);
  EXPECT_EQ(walksOf(logSumExp), 1u);
  EXPECT_EQ(walksOf(ofTwo), 1u);
  EXPECT_EQ(walksOf(moments), 2u);
  EXPECT_EQ(walksOf(offTheTop), 1u);
  EXPECT_EQ(walksOf(both), 1u);
}

TEST(OnlineReductions, NearMissesAreWalkedOverAsBefore) {
  // Off something else than its own largest element.
  EXPECT_EQ(walksOf(rows("v[i] = sum[k](exp(x[i, k] - max[k](w[i, k])))\n")), 2u);
  EXPECT_EQ(walksOf(rows("v[i] = sum[k](exp(x[i, k] - min[k](x[i, k])))\n")), 2u);
  EXPECT_EQ(walksOf(rows("v[i] = sum[k](exp(max[k](x[i, k]) - x[i, k]))\n")), 2u);
  // Weights, which need the largest element for themselves, are walked over beside it.
  EXPECT_EQ(walksOf(rows("t = exp(x[i, k] - max[k](x[i, k]))\n"
                         "v[i] = sum[k](t * w[i, k]) / sum[k](t)\n")),
            2u);
  // Distances from a centre in each element, or multiplied with others.
  EXPECT_EQ(
      walksOf(rows("away = x[i, k] - w[i, k] * sum[k](x[i, k])\nv[i] = sum[k](away * away)\n")),
      2u);
  EXPECT_EQ(walksOf(rows("m = sum[k](x[i, k])\n"
                         "v[i] = sum[k]((x[i, k] - m) * (w[i, k] - m))\n")),
            2u);
}

/// Turns have few elements of each column.
TEST(OnlineReductions, ColumnsAreWalkedOverAsBefore) {
  const std::string columns = "R = size()\nN = size()\nx = input(fp32, [N, R], strides=[R, 1])\n"
                              "v = output(fp32, [R], strides=[1])\ni = iterator(R)\n"
                              "k = iterator(N)\nstage(\"t\")\ntop = max[k](x[k, i])\n"
                              "v[i] = sum[k](exp(x[k, i] - top))\n";
  EXPECT_EQ(walksOf(columns), 2u);
}

TEST(OnlineReductions, DistancesLoseNothingBesideALargeMean) {
  const auto [x, expected] = farLine();
  for (const RunOptions &options : inPieces()) {
    Program written = program(rows("mean = sum[k](x[i, k]) / cast(index(N), fp32)\n"
                                   "away = x[i, k] - mean\nv[i] = sum[k](away * away)\n"));
    auto memory =
        run(written, {{1, static_cast<int64_t>(x.size())}, {}, {{"x", x}, {"w", x}}}, options);
    ASSERT_TRUE(bool(memory)) << memory.error().message;
    EXPECT_NEAR(memory->at("v")[0] / expected, 1, 2e-6);
  }
}

} // namespace
} // namespace nereid::generator
