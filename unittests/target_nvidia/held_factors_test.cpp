// SPDX-License-Identifier: Apache-2.0
// Factors that no turn of a loop changes (HeldFactors.h), by the code that they become.
#include "lib/targets/nvidia/assembler/Ptxas.h"
#include "lib/targets/nvidia/assembler/PtxasLog.h"
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::nvidia;

namespace {

struct Loop {
  std::string inFront = "w = tl.load(b + at)";
  std::string inLoop = "acc += tl.dot(x, w)";
  std::string behind;
  std::string options;
  std::string target = "nvidia:sm_90a";
};

/// Tiles of 64 x 64; each turn has its own x.
std::string loopPtx(const Loop &loop) {
  return ptxOfText("\n@triton.jit\ndef k(a, b, c, K):\n"
                   "    i = tl.arange(0, 64)\n"
                   "    at = i[:, None] * 64 + i[None, :]\n"
                   "    acc = tl.zeros((64, 64), dtype=tl.float32)\n"
                   "    " +
                       loop.inFront +
                       "\n"
                       "    for k in range(0, K):\n"
                       "        x = tl.load(a + k * 4096 + at)\n"
                       "        " +
                       loop.inLoop +
                       "\n"
                       "    tl.store(c + at, acc)\n" +
                       loop.behind,
                   "a=*fp16:16, b=*fp16:16, c=*fp32:16, K=i32" + loop.options, loop.target);
}

/// Of attention_backward in float16 with blocks of 64 x 64.
std::string gradientsPtx(const std::string &depth) {
  return ptxOf("attention/attention_backward.py:attention_backward",
               "q=*fp16:16, k=*fp16:16, v=*fp16:16, dout=*fp16:16, lse=*fp32:16, delta=*fp32:16, "
               "dq=*fp32:16, dk=*fp16:16, dv=*fp16:16, scale=fp32, N=i32:16, CAUSAL=True, "
               "WINDOW=0, D=" +
                   depth + ", BLOCK_M=64, BLOCK_N=64");
}

} // namespace

TEST(HeldFactors, ARightFactorIsCopiedIntoASlotOnce) {
  const std::string ptx = loopPtx({});
  EXPECT_EQ(countOf(ptx, "wgmma.mma_async"), 4);
  EXPECT_EQ(countOf(ptx, "mma.sync"), 0);
  // 8 KiB, 16 bytes a thread: of x for the first turns and in the loop, and of w in front of both.
  EXPECT_EQ(countOf(ptx, "cp.async.cg.shared.global"), 12);
  EXPECT_EQ(countOf(ptx, "ld.global"), 0);
  EXPECT_EQ(countOf(ptx, "st.shared"), 0);
}

TEST(HeldFactors, ItsTransposeIsReadFromTheSameSlot) {
  const std::string ptx = loopPtx({.inLoop = "acc += tl.dot(x, w) + tl.dot(x, w.T)"});
  EXPECT_EQ(countOf(ptx, "wgmma.mma_async"), 8);
  EXPECT_EQ(countOf(ptx, "cp.async.cg.shared.global"), 12);
}

TEST(HeldFactors, WhatIsComputedIsStoredIntoASlot) {
  for (const Loop &loop : {Loop{.inFront = "w = tl.load(b + at) * 2"},
                           // Somebody else needs the tile, or memory may have changed meanwhile.
                           Loop{.behind = "    tl.store(b + at, w + w)\n"},
                           Loop{.inFront = "w = tl.load(b + at)\n"
                                           "    tl.store(b + at, at.to(tl.float16))"}}) {
    const std::string ptx = loopPtx(loop);
    EXPECT_EQ(countOf(ptx, "wgmma.mma_async"), 4);
    EXPECT_EQ(countOf(ptx, "cp.async.cg.shared.global"), 8);
    EXPECT_EQ(countOf(ptx, "st.shared.v4.b32"), 4);
    // Warpgroups see it behind the fence and the barrier of the first turn.
    const size_t stored = ptx.rfind("st.shared"), fence = ptx.find("fence.proxy.async", stored);
    EXPECT_LT(stored, fence);
    EXPECT_LT(fence, ptx.find("bar.sync", fence));
    EXPECT_LT(ptx.find("bar.sync", fence), ptx.find("wgmma.mma_async"));
  }
}

TEST(HeldFactors, ALeftFactorStaysInRegistersWhereTheyHaveRoom) {
  const std::string left = "acc += tl.dot(w, x)";
  EXPECT_EQ(countOf(loopPtx({.inLoop = left}), "cp.async.cg.shared.global"), 8);
  // A right factor is in a slot anyway.
  const std::string both = loopPtx({.inLoop = "acc += tl.dot(w, x) + tl.dot(x, w)"});
  EXPECT_EQ(countOf(both, "cp.async.cg.shared.global"), 12);
  EXPECT_EQ(countOf(both, "ld.global"), 0);
}

TEST(HeldFactors, OtherwiseWarpsMultiplyWhatTheyHoldInRegisters) {
  for (const Loop &loop : {Loop{.target = "nvidia:sm_80"}, Loop{.target = "nvidia:sm_90"},
                           Loop{.options = ", num_warps=2"}, Loop{.options = ", num_stages=1"},
                           // 20 slots of 8 KiB and no room for another one.
                           Loop{.options = ", num_stages=21"}}) {
    const std::string ptx = loopPtx(loop);
    EXPECT_EQ(countOf(ptx, "wgmma"), 0);
    EXPECT_GT(countOf(ptx, "mma.sync"), 0);
  }
  // A slot less makes the room.
  EXPECT_EQ(countOf(loopPtx({.options = ", num_stages=20"}), "cp.async.wait_group 17"), 1);
}

TEST(HeldFactors, AttentionsGradientsSpillNothing) {
  for (const char *depth : {"64", "128"}) {
    const std::string ptx = gradientsPtx(depth);
    EXPECT_EQ(countOf(ptx, "mma.sync"), 0) << depth;
    const auto ptxas = findPtxas();
    if (ptxas && !*ptxas) {
      continue;
    }
    const auto made = assemble(ptx, "sm_90a");
    ASSERT_TRUE(made) << render(made.error());
    EXPECT_EQ(readPtxasLog(made->log).resources.spillStoreBytes.value_or(0), 0) << depth;
    EXPECT_EQ(lossOf(made->log), "") << depth;
  }
}

TEST(HeldFactors, SumsThatMemoryHoldsAreLoadedAsTheProductHasThem) {
  const std::string ptx = loopPtx({.inLoop = "s = tl.load(c + at)\n"
                                             "        s = tl.dot(x, w, s)\n"
                                             "        tl.store(c + at, s)\n"
                                             "        acc += 1.0"});
  EXPECT_EQ(countOf(ptx, "ld.global.v2.b32"), 16); // 4096 numbers, 128 threads, two at a time
  EXPECT_EQ(countOf(ptx, "st.shared"), 0);
}
