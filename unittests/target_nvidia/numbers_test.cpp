// SPDX-License-Identifier: Apache-2.0
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

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
