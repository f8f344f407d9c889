// SPDX-License-Identifier: Apache-2.0
// Two float32 that go into one word are rounded by one instruction, see codegen/PairedRoundings.h.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

#include <regex>

using namespace nereid::nvidia;

namespace {

/// 512 elements by 128 threads: each rounds four neighbours.
std::string storing(const std::string &value, const std::string &type) {
  return ptxOfText("\n@triton.jit\ndef k(x, out):\n"
                   "    i = tl.arange(0, 512)\n"
                   "    v = tl.load(x + i)\n"
                   "    tl.store(out + i, " +
                       value + ")\n",
                   "x=*fp32:16, out=*" + type + ":16");
}

} // namespace

TEST(NvidiaPairedRoundings, WordsAreRoundedAtOnce) {
  for (const auto &[type, name] : {std::pair{"fp16", "f16"}, {"bf16", "bf16"}}) {
    const std::string ptx = storing("v", type);
    EXPECT_EQ(countOf(ptx, std::string("cvt.rn.") + name + "x2.f32"), 2) << ptx;
    EXPECT_EQ(countOf(ptx, std::string("cvt.rn.") + name + ".f32"), 0) << ptx;
    EXPECT_EQ(countOf(ptx, "shl.b32"), countOf(storing("v", "fp32"), "shl.b32")) << ptx;
  }
}

/// The first of a pair is the lower half of its word, which the instruction names last.
TEST(NvidiaPairedRoundings, KeepsTheOrder) {
  const std::string ptx = storing("v", "fp16");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(ptx, found, std::regex(R"(v4\.b32 \{(%r\d+), (%r\d+), )")));
  const auto numberOf = [&](const std::string &word) {
    std::smatch move;
    EXPECT_TRUE(std::regex_search(ptx, move, std::regex(R"(mov\.b32\s+(%f\d+), )" + word + ";")));
    return move[1].str();
  };
  const std::string first = numberOf(found[1]), second = numberOf(found[2]);
  ASSERT_TRUE(std::regex_search(ptx, found, std::regex(R"(cvt\.rn\.f16x2\.f32\s+%r\d+, (.*);)")));
  EXPECT_EQ(found[1].str(), second + ", " + first) << ptx;
}

TEST(NvidiaPairedRoundings, SingleOnesAreTheLowerHalf) {
  const std::string ptx = ptxOfText("\n@triton.jit\ndef k(x, out):\n"
                                    "    i = tl.arange(0, 128)\n"
                                    "    tl.store(out + i, tl.load(x + i).to(tl.float16))\n",
                                    "x=*fp32:16, out=*fp16:16");
  EXPECT_EQ(countOf(ptx, "cvt.rn.f16.f32"), 0) << ptx;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(
      ptx, found, std::regex(R"(cvt\.rn\.f16x2\.f32\s+%r\d+, (%f\d+|0f0+), (%f\d+);)")));
  if (found[1] != "0f00000000") {
    EXPECT_NE(ptx.find("mov.f32 \t" + found[1].str() + ", 0f00000000;"), std::string::npos) << ptx;
  }
}
