// SPDX-License-Identifier: Apache-2.0
// Both halves of a product come from one instruction, see codegen/WideProducts.h.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

#include <regex>

using namespace nereid::nvidia;

namespace {

std::string storing(const std::string &high, const std::string &low) {
  return ptxOfText("\n@triton.jit\ndef k(x, y, out):\n"
                   "    i = tl.arange(0, 128)\n"
                   "    a = tl.load(x + i)\n"
                   "    b = tl.load(y + i)\n"
                   "    tl.store(out + i, " +
                       high + ")\n    tl.store(out + 128 + i, " + low + ")\n",
                   "x=*u32:16, y=*u32:16, out=*u32:16");
}

int wideOnes(const std::string &ptx) { return countOf(ptx, "mul.wide.u32 both"); }

} // namespace

TEST(NvidiaWideProducts, HalvesOfOneProductShareAnInstruction) {
  for (const auto &[high, low] : {std::pair{"tl.umulhi(a, b)", "a * b"},
                                  {"tl.umulhi(a, b)", "b * a"},
                                  {"tl.umulhi(a, 0xD2511F53)", "a * 0xD2511F53"}}) {
    const std::string ptx = storing(high, low);
    EXPECT_EQ(wideOnes(ptx), 1) << ptx;
    EXPECT_EQ(countOf(ptx, "mul.hi.u32"), 0) << ptx;
    // The halves go where they belong: the lower one is named first.
    std::smatch halves;
    ASSERT_TRUE(
        std::regex_search(ptx, halves, std::regex(R"(mov\.b64 \{(%r\d+), (%r\d+)\}, both)")));
    const std::regex stored(R"(st\.global\S*\s+\[%rd\d+\], (%r\d+))");
    int seen = 0; // the upper half is stored first
    for (std::sregex_iterator at(ptx.begin(), ptx.end(), stored), end; at != end; ++at, ++seen) {
      EXPECT_EQ((*at)[1].str(), halves[seen == 0 ? 2 : 1].str()) << ptx;
    }
    EXPECT_EQ(seen, 2) << ptx;
  }
}

TEST(NvidiaWideProducts, OtherProductsStay) {
  for (const auto &[high, low] : {std::pair{"tl.umulhi(a, b)", "a + b"},
                                  {"tl.umulhi(a, b)", "a * a"},
                                  {"tl.umulhi(a, 3)", "a * 5"}}) {
    const std::string ptx = storing(high, low);
    EXPECT_EQ(wideOnes(ptx), 0) << ptx;
    EXPECT_EQ(countOf(ptx, "mul.hi.u32"), 1) << ptx;
  }
}

/// Ten rounds of two products each.
TEST(NvidiaWideProducts, RandomNumbersTakeOneForEachProduct) {
  const std::string ptx = ptxOfText("\n@triton.jit\ndef k(out, seed):\n"
                                    "    i = tl.arange(0, 128)\n"
                                    "    a, b, c, d = tl.randint4x(seed, i)\n"
                                    "    tl.store(out + i, a ^ b ^ c ^ d)\n",
                                    "out=*i32:16, seed=i32");
  EXPECT_GE(wideOnes(ptx), 17) << ptx;
  EXPECT_LE(countOf(ptx, "mul.hi.u32"), 2) << ptx;
}
