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
