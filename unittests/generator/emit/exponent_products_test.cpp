// SPDX-License-Identifier: Apache-2.0
// Which products are rounded because exponents are differences of them, and near misses.
#include "lib/generator/emit/ExponentProducts.h"

#include "unittests/generator/program/Reading.h"

namespace nereid::generator {
namespace {

struct Counts {
  size_t rounded, differences;
  bool operator==(const Counts &) const = default;
};

Counts countsOf(const std::string &stage) {
  Program read = program("N = size()\nM = size()\nx = input(fp32, [N, M], strides=[M, 1])\n"
                         "w = input(fp32, [M], strides=[1])\n"
                         "top = input(fp32, [N], strides=[1])\n"
                         "y = output(fp32, [N, M], strides=[M, 1])\n"
                         "z = output(fp32, [N, M], strides=[M, 1])\n"
                         "v = output(fp32, [N], strides=[1])\n"
                         "i = iterator(N)\nr = iterator(M)\nstage(\"t\")\n" +
                         stage);
  const ExponentProducts found = exponentProducts(rootsOf(read.stages.at(0).stores));
  return {found.rounded.size(), found.differences.size()};
}

TEST(ExponentProducts, OfASoftmaxInOneKernelOrInTwo) {
  EXPECT_EQ(countsOf("s = x[i, r] * w[r]\nt = exp(s - max[r](s))\ny[i, r] = t / sum[r](t)\n"),
            (Counts{1, 0}));
  EXPECT_EQ(countsOf("s = x[i, r] * w[r]\nv[i] = sum[r](exp(s - top[i]))\n"), (Counts{1, 0}));
  EXPECT_EQ(countsOf("s = x[i, r] * w[r]\ny[i, r] = exp(s - top[i])\n"), (Counts{1, 0}));
  EXPECT_EQ(countsOf("s = neg(x[i, r] * w[r])\nt = exp(s - max[r](s))\ny[i, r] = t / sum[r](t)\n"),
            (Counts{1, 0}));
  EXPECT_EQ(countsOf("s = pow(x[i, r], fp32(2.0))\ny[i, r] = exp(s - top[i])\n"), (Counts{1, 0}));
}

TEST(ExponentProducts, WhoseZerosShowKeepTheirSign) {
  EXPECT_EQ(countsOf("s = x[i, r] * w[r]\nz[i, r] = s\ny[i, r] = exp(s - top[i])\n"),
            (Counts{0, 1}));
  EXPECT_EQ(countsOf("s = x[i, r] * w[r]\nz[i, r] = s * w[r]\ny[i, r] = exp(s - top[i])\n"),
            (Counts{0, 1}));
  EXPECT_EQ(countsOf("s = x[i, r] * w[r]\nz[i, r] = neg(s)\ny[i, r] = exp(neg(s) - top[i])\n"),
            (Counts{0, 1}));
}

TEST(ExponentProducts, NothingElseIs) {
  for (const char *other : {
           "y[i, r] = x[i, r] * w[r] - top[i]\n",               // no exponent
           "y[i, r] = exp(x[i, r] - top[i])\n",                 // no product
           "y[i, r] = exp(x[i, r] * w[r] + w[r] - top[i])\n",   // contracted in itself alone
           "y[i, r] = exp(x[i, r] * w[r])\n",                   // no difference
           "y[i, r] = exp(top[i] - x[i, r]) * w[r]\n",          // a product of another kind
           "y[i, r] = exp(pow(x[i, r], fp32(0.5)) - top[i])\n", // is a function
           "y[i, r] = exp(cast(index(3*r), fp32) - top[i])\n",  // of integers
       }) {
    EXPECT_EQ(countsOf(other), (Counts{0, 0})) << other;
  }
}

} // namespace
} // namespace nereid::generator
