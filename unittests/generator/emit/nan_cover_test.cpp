// SPDX-License-Identifier: Apache-2.0
// Of which extrema NaN is covered, and near misses.
#include "lib/generator/emit/NanCover.h"

#include "unittests/generator/program/Reading.h"

namespace nereid::generator {
namespace {

/// How many of the program's extrema pass over NaN.
size_t coveredOf(const std::string &stage) {
  Program read = program("N = size()\nM = size()\nx = input(fp32, [N, M], strides=[M, 1])\n"
                         "z = input(fp32, [N, M], strides=[M, 1])\n"
                         "y = output(fp32, [N, M], strides=[M, 1])\n"
                         "v = output(fp32, [N], strides=[1])\n"
                         "i = iterator(N)\nr = iterator(M)\nstage(\"t\")\n" +
                         stage);
  return coveredExtrema(rootsOf(read.stages.at(0).stores)).size();
}

TEST(NanCover, ASoftmaxHasItsSumForIt) {
  EXPECT_EQ(coveredOf("t = exp(x[i, r] - max[r](x[i, r]))\ny[i, r] = t / sum[r](t)\n"), 1u);
  EXPECT_EQ(coveredOf("t = exp(min[r](x[i, r]) - x[i, r])\ny[i, r] = log(t / sum[r](t))\n"), 1u);
}

TEST(NanCover, NothingElseIs) {
  // The extremum itself is a result, of its own or beside the softmax.
  EXPECT_EQ(coveredOf("v[i] = max[r](x[i, r])\n"), 0u);
  EXPECT_EQ(coveredOf("m = max[r](x[i, r])\nt = exp(x[i, r] - m)\ny[i, r] = t / sum[r](t)\n"
                      "v[i] = m\n"),
            0u);
  // Other lanes than the one with NaN have no NaN of their own.
  EXPECT_EQ(coveredOf("y[i, r] = x[i, r] - max[r](x[i, r])\n"), 0u);
  // The sum is over other elements, or a condition leaves some out.
  EXPECT_EQ(coveredOf("y[i, r] = x[i, r] - max[r](x[i, r]) + sum[r](z[i, r])\n"), 0u);
  EXPECT_EQ(coveredOf("y[i, r] = x[i, r] - max[r](x[i, r]) + sum[r](x[i, r])\n"), 1u);
  EXPECT_EQ(coveredOf("m = max[r](x[i, r])\nt = exp(x[i, r] - m)\n"
                      "y[i, r] = t / sum[r](where(z[i, r] > fp32(0.0), t, fp32(0.0)))\n"),
            0u);
  // What is made of the sum may pass over NaN.
  EXPECT_EQ(coveredOf("m = max[r](x[i, r])\nt = exp(x[i, r] - m)\ns = sum[r](t)\n"
                      "y[i, r] = where(s > fp32(0.0), t / s, fp32(0.0))\n"),
            0u);
}

} // namespace
} // namespace nereid::generator
