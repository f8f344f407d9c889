// SPDX-License-Identifier: Apache-2.0
// Loops whose operands are copied ahead (nvidia-pipeline-loops), by the code that they become.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

namespace {

struct Loop {
  std::string range = "range(0, K, 32)";
  std::string a = "tl.load(a + at)";
  std::string b = "tl.load(b + n[:, None] * step + k + i[None, :]).T";
  std::string inLoop;
  std::string type = "fp16:16";
  std::string options;
};

/// c = a @ b, with a tile of 64 x 64; `at` is a tile of 64 x 32.
std::string loopPtx(const Loop &loop, const std::string &target = "nvidia:sm_90a") {
  return ptxOfText("\n@triton.jit\ndef k(a, b, c, K, step):\n"
                   "    i = tl.arange(0, 32)\n"
                   "    n = tl.arange(0, 64)\n"
                   "    acc = tl.zeros((64, 64), dtype=tl.float32)\n"
                   "    for k in " +
                       loop.range +
                       ":\n"
                       "        at = n[:, None] * step + k + i[None, :]\n"
                       "        x = " +
                       loop.a +
                       "\n"
                       "        y = " +
                       loop.b + "\n" + loop.inLoop +
                       "        acc = tl.dot(x, y, acc)\n"
                       "    tl.store(c + n[:, None] * 64 + n[None, :], acc)\n",
                   "a=*" + loop.type + ", b=*" + loop.type + ", c=*fp32:16, K=i32, step=i32:16" +
                       loop.options,
                   target);
}

int copiesOf(const std::string &ptx) { return countOf(ptx, ".shared.global"); }

} // namespace

TEST(NvidiaPipeline, CopiesRunAheadOfProducts) {
  for (const char *target : {"nvidia:sm_80", "nvidia:sm_90a"}) {
    const std::string ptx = loopPtx({}, target);
    // 2 tiles of 2048 elements for 128 threads, 8 each, once in front of the loop and once in it.
    EXPECT_EQ(countOf(ptx, "cp.async.cg.shared.global"), 8) << target;
    EXPECT_EQ(copiesOf(ptx), 8) << target;
    EXPECT_EQ(countOf(ptx, "cp.async.commit_group"), 2) << target;
    EXPECT_EQ(countOf(ptx, "cp.async.wait_group 1"), 1) << target;
    EXPECT_EQ(countOf(ptx, "cp.async.wait_group 0"), 1) << target;
    // In front of the slots' first use, at the start of a turn, behind the loop; and where a
    // product may go on in the next turn, before its slot is filled again.
    EXPECT_EQ(countOf(ptx, "bar.sync"), target == std::string("nvidia:sm_90a") ? 4 : 3) << target;
    EXPECT_EQ(countOf(ptx, "ld.global"), 0) << target;
    EXPECT_EQ(countOf(ptx, "st.shared"), 0) << target;
  }
}

TEST(NvidiaPipeline, StagesAreThoseOfTheLoopElseOfTheKernel) {
  EXPECT_EQ(countOf(loopPtx({.options = ", num_stages=5"}), "cp.async.wait_group 3"), 1);
  EXPECT_EQ(countOf(loopPtx({.options = ", num_stages=2"}), "cp.async.wait_group 0"), 2);
  EXPECT_EQ(copiesOf(loopPtx({.options = ", num_stages=1"})), 0);
  const Loop loop{.range = "tl.range(0, K, 32, num_stages=4)", .options = ", num_stages=1"};
  EXPECT_EQ(countOf(loopPtx(loop), "cp.async.wait_group 2"), 1);
}

TEST(NvidiaPipeline, AMaskMakesZeros) {
  // One truth value for each vector: the size that is read says it.
  const std::string rows = loopPtx({.a = "tl.load(a + at, mask=n[:, None] < K, other=0.0)"});
  EXPECT_EQ(copiesOf(rows), 8);
  EXPECT_EQ(countOf(rows, "ld.global"), 0);
  // Neighbours with truth values of their own: a vector of which some are excluded is stored.
  const std::string each = loopPtx({.a = "tl.load(a + at, mask=(k + i)[None, :] < K)"});
  EXPECT_EQ(copiesOf(each), 8);
  EXPECT_GT(countOf(each, "ld.global"), 0);
  EXPECT_GT(countOf(each, "st.shared.b16"), 0);
  // Other values than zeros.
  const std::string ones = loopPtx({.a = "tl.load(a + at, mask=n[:, None] < K, other=1.0)"});
  EXPECT_EQ(copiesOf(ones), 8);
  EXPECT_GT(countOf(ones, "st.shared"), 0);
}

TEST(NvidiaPipeline, AVectorIsAsLongAsItsAddressIsAligned) {
  EXPECT_EQ(countOf(loopPtx({.type = "fp16:8"}), "cp.async.ca.shared.global"), 16);
  EXPECT_EQ(countOf(loopPtx({.type = "fp16:4"}), "cp.async.ca.shared.global"), 32);
  EXPECT_EQ(copiesOf(loopPtx({.type = "fp16"})), 0);
}

TEST(NvidiaPipeline, WhatAProgramDoesInItsOrderStaysThere) {
  EXPECT_EQ(copiesOf(loopPtx({.inLoop = "        tl.atomic_add(c, 1.0)\n"})), 0);
  EXPECT_EQ(copiesOf(loopPtx({.inLoop = "        tl.debug_barrier()\n"})), 0);
  // One operand alone.
  EXPECT_EQ(copiesOf(loopPtx({.a = "tl.load(a + at) * 2"})), 4);
  EXPECT_EQ(copiesOf(loopPtx({.a = "tl.load(a + at + tl.load(a + k).to(tl.int32))"})), 4);
  EXPECT_EQ(copiesOf(loopPtx({.a = "tl.load(a + at, volatile=True)"})), 0);
}

TEST(NvidiaPipeline, CopiesPassStoresThroughOtherArguments) {
  EXPECT_EQ(copiesOf(loopPtx({.inLoop = "        tl.store(c + n, n.to(tl.float32))\n"})), 8);
  EXPECT_EQ(copiesOf(loopPtx({.inLoop = "        if k > 64:\n"
                                        "            tl.store(c + n, n.to(tl.float32))\n"})),
            8);
  // The operand that is stored to stays in its turn, and the other one does not.
  EXPECT_EQ(copiesOf(loopPtx({.inLoop = "        tl.store(a + n, n.to(tl.float16))\n"})), 4);
  // Through one of two arguments, which is only known at run time.
  EXPECT_EQ(copiesOf(loopPtx({.inLoop = "        w = a\n"
                                        "        if K > 100:\n"
                                        "            w = b\n"
                                        "        tl.store(w + n, n.to(tl.float16))\n"})),
            0);
}

TEST(NvidiaPipeline, ACopyWaitsForWhatWasStoredBefore) {
  const std::string ptx = ptxOfText("\n@triton.jit\ndef k(a, b, K):\n"
                                    "    i = tl.arange(0, 64)\n"
                                    "    at = i[:, None] * 64 + i[None, :]\n"
                                    "    acc = tl.zeros((64, 64), dtype=tl.float32)\n"
                                    "    tl.store(a + at, at.to(tl.float16))\n"
                                    "    for k in range(0, K):\n"
                                    "        x = tl.load(a + k * 4096 + at)\n"
                                    "        acc = tl.dot(x, x, acc)\n"
                                    "    tl.store(b + at, acc)\n",
                                    "a=*fp16:16, b=*fp32:16, K=i32");
  const size_t stored = ptx.find("st.global"), waits = ptx.find("bar.sync", stored);
  ASSERT_NE(stored, std::string::npos);
  EXPECT_LT(waits, ptx.find("cp.async.c"));
}

TEST(NvidiaPipeline, NeighboursStayNeighboursBehindARemainder) {
  const Loop loop{.b = "tl.load(b + (k + i)[:, None] * step + ((n + first) % step)[None, :])"};
  const auto ptxWith = [&](const std::string &first) {
    Loop own = loop;
    own.b.replace(own.b.find("first"), 5, first);
    return loopPtx(own);
  };
  // A start that is negative is found at run time, in front of the loop, and leads to elements: the
  // other operand is copied as before in either loop.
  const std::string asked = ptxWith("(tl.program_id(0) * 64 - 64)");
  EXPECT_EQ(copiesOf(asked), 8 + 4);
  EXPECT_EQ(countOf(asked, "ld.global.b16"), 2 * 16);
  const std::string known = ptxWith("0");
  EXPECT_EQ(copiesOf(known), 8);
  EXPECT_EQ(countOf(known, "ld.global"), 0);
}
