// SPDX-License-Identifier: Apache-2.0
// What LLVM would make slow or drop without a word, in the code of our own phases.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

#include <regex>

using namespace nereid::nvidia;

namespace {

/// Loads and stores of the code by what stands behind "ld" and "st": ".global.v4.b32".
std::vector<std::string> accessesOf(const std::string &ptx) {
  static const std::regex access(R"((?:ld|st)((?:\.[a-zA-Z0-9_:]+)+))");
  std::vector<std::string> all;
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), access), end; at != end; ++at) {
    all.push_back((*at)[1]);
  }
  return all;
}

bool holds(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Copies to a print's buffer, an exchange over shared memory with indices of the data, vectors.
constexpr const char *moves = R"(
@triton.jit
def k(x, y, i):
    n = tl.arange(0, 1024)
    a = tl.load(x + n)
    tl.device_print("value", a)
    tl.store(y + n, tl.gather(a, tl.load(i + n), 0))
)";

} // namespace

TEST(NvidiaKernelTraps, NothingIsCopiedByteByByte) {
  for (const char *target : {"nvidia:sm_80", "nvidia:sm_90a"}) {
    for (const std::string &one :
         accessesOf(ptxOfText(moves, "x=*fp32:16, y=*fp32:16, i=*i32:16", target))) {
      EXPECT_FALSE(holds(one, "8")) << one; // .b8, .u8, .s8
    }
  }
}

TEST(NvidiaKernelTraps, AnElementByIndexIsNotLoadedAgainThroughAGenericAddress) {
  const auto all = accessesOf(ptxOfText(moves, "x=*fp32:16, y=*fp32:16, i=*i32:16"));
  EXPECT_GT(std::count(all.begin(), all.end(), ".global.v4.b32"), 0);
  for (const std::string &one : all) {
    EXPECT_TRUE(holds(one, ".global") || holds(one, ".shared") || holds(one, ".local") ||
                holds(one, ".param"))
        << one;
    EXPECT_FALSE(holds(one, ".global.b32")) << "one element of a vector that is already there";
  }
}

TEST(NvidiaKernelTraps, NumCtasMakesNoClusterThatALaunchDoesNotKnowOf) {
  const std::string ptx =
      ptxOfText("\n@triton.jit\ndef k(x):\n    tl.store(x, 1)\n", "x=*i32, num_ctas=2");
  EXPECT_FALSE(holds(ptx, "cluster")) << ptx;
}

TEST(NvidiaKernelTraps, AssemblyWithEffectsStaysWhereAndAsOftenAsItIs) {
  const auto clocks = [](const std::string &isPure) {
    const std::string read = "tl.inline_asm_elementwise('mov.u32 $0, %clock;', '=r', [], "
                             "dtype=tl.int32, is_pure=" +
                             isPure + ", pack=1)";
    return countOf(ptxOfText("\n@triton.jit\ndef k(x):\n    before = " + read +
                                 "\n    tl.store(x, 1)\n    tl.store(x + 1, " + read +
                                 " - before)\n",
                             "x=*i32"),
                   "%clock");
  };
  EXPECT_EQ(clocks("False"), 2);
  EXPECT_EQ(clocks("True"), 0) << "one of two that are the same, less itself";
}

TEST(NvidiaKernelTraps, LoadsAreMadeAgainBehindWhatOthersMayHaveStored) {
  const std::string ptx = ptxOfText(R"(
@triton.jit
def k(x, y):
    n = tl.arange(0, 1024)
    a = tl.load(x + n)
    tl.debug_barrier()
    tl.store(y + n, a + tl.load(x + n))
)",
                                    "x=*fp32:16, y=*fp32:16");
  EXPECT_EQ(countOf(ptx, "ld.global.v4.b32"), 4) << ptx;
  const size_t barrier = ptx.find("bar.sync");
  EXPECT_LT(ptx.find("ld.global"), barrier);
  EXPECT_GT(ptx.rfind("ld.global"), barrier);
}
