// SPDX-License-Identifier: Apache-2.0
// What is counted of the recognisers, and what a declined loop is told.
#include "lib/targets/cpu/lower/Recognisers.h"
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <set>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

cpu::RecogniserCount countOf(std::string_view name) {
  for (const cpu::RecogniserCount &each : cpu::recogniserCounts()) {
    if (each.name == name) {
      return each;
    }
  }
  ADD_FAILURE() << "no recogniser is called " << name;
  return {};
}

LoweredKernel product(const std::string &inLoop) {
  return lowerSource(R"(
@triton.jit
def kernel(a, b, c, K, B: tl.constexpr):
    r = tl.arange(0, B)
    at = r[:, None] * B + r[None, :]
    acc = tl.zeros((B, B), tl.float32)
    for k in range(K):
        acc = tl.dot(tl.load(a + at + k), tl.load(b + at + k), acc)
)" + inLoop + "    tl.store(c + at, acc)\n",
                     "a=*fp32, b=*fp32, c=*fp32, K=i32, B=64");
}

TEST(Recognisers, CountWhatTheyTakeAndWhatTheyLeave) {
  cpu::resetRecogniserCounts();
  LoweredKernel taken = product("");
  EXPECT_EQ(taken.error, "");
  EXPECT_EQ(taken.remarks, "");
  EXPECT_GE(countOf("gemm").fired, 1U);
  EXPECT_EQ(countOf("gemm").declined, 0U);
  EXPECT_GE(countOf("gemm-operand").fired, 2U);
  cpu::resetRecogniserCounts();
  EXPECT_EQ(countOf("gemm").fired, 0U);
  LoweredKernel left = product("        tl.store(c + r, k)\n");
  EXPECT_EQ(left.error, "");
  EXPECT_EQ(countOf("gemm").fired, 0U);
  EXPECT_GE(countOf("gemm").declined, 1U);
  EXPECT_NE(left.remarks.find("not recognised as the loop of a matrix product: its body does more"),
            std::string::npos)
      << left.remarks;
}

TEST(Recognisers, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const cpu::RecogniserCount &each : cpu::recogniserCounts()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.what.empty()) << each.name;
  }
}

} // namespace
