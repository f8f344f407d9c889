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

TEST(NvidiaKernelTraps, ProgramsOfSeveralBlocksAreClusters) {
  const char *sum = "\n@triton.jit\ndef k(x, out, N: tl.constexpr):\n"
                    "    row = tl.program_id(0)\n"
                    "    tile = tl.load(x + row * N + tl.arange(0, N))\n"
                    "    tl.store(out + row * tl.num_programs(0), tl.sum(tile, axis=0))\n";
  const auto text = [&](const std::string &options) {
    return ptxOfText(sum, "x=*fp32, out=*fp32, N=4096, num_warps=4" + options);
  };
  const std::string one = text(""), four = text(", num_ctas=4");
  EXPECT_FALSE(holds(one, "cluster")) << one;
  EXPECT_TRUE(holds(one, "bar.sync"));
  EXPECT_TRUE(holds(four, ".reqntid 128, 1, 1\n.explicitcluster\n.reqnctapercluster 4,1,1\n"))
      << four;
  EXPECT_TRUE(holds(four, "%clusterid.x") && holds(four, "%nclusterid.x")) << four;
  EXPECT_FALSE(holds(four, "%ctaid.x") || holds(four, "bar.sync")) << four;
  // That all blocks have begun is asked for once, and behind the shares that all get all wait.
  EXPECT_EQ(countOf(four, "barrier.cluster.arrive.relaxed"), 1) << four;
  EXPECT_EQ(countOf(four, "barrier.cluster.wait"), 2) << four;
  EXPECT_EQ(countOf(four, "mapa."), 4) << four;
}

TEST(NvidiaKernelTraps, BlocksThatShareNothingDoNotWait) {
  const std::string ptx = ptxOfText("\n@triton.jit\ndef k(x):\n    i = tl.arange(0, 1024)\n"
                                    "    tl.store(x + i, i)\n",
                                    "x=*i32, num_ctas=2");
  EXPECT_TRUE(holds(ptx, ".reqnctapercluster 2,1,1")) << ptx;
  EXPECT_FALSE(holds(ptx, "barrier")) << ptx;
}

TEST(NvidiaKernelTraps, ABlockWhoseMemoryOthersReadEndsLast) {
  const std::string ptx = ptxOfText("\n@triton.jit\ndef k(x):\n    i = tl.arange(0, 1024)\n"
                                    "    t = tl.sort(tl.load(x + i))\n    tl.store(x + i, t)\n",
                                    "x=*i32, num_ctas=2");
  const size_t read = ptx.rfind("mapa"), wait = ptx.rfind("barrier.cluster.wait");
  ASSERT_NE(read, std::string::npos) << ptx;
  EXPECT_GT(wait, ptx.rfind("st.global")) << ptx;
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
