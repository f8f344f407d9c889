// SPDX-License-Identifier: Apache-2.0
// Barriers in front of accesses that touch what another thread may have touched (docs/memory.md).
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

namespace {

int barriersOf(const std::string &body, const std::string &signature) {
  return countOf(ptxOfText("\n@triton.jit\ndef k(x, y):\n" + body, signature), "bar.sync");
}

} // namespace

TEST(NvidiaMemoryOrder, AThreadNeedsNoneForItsOwnElements) {
  EXPECT_EQ(barriersOf("    at = x + tl.arange(0, 1024)\n"
                       "    tl.store(at, tl.load(at) + 1)\n"
                       "    tl.store(at, tl.load(at) * 2)\n",
                       "x=*fp32:16, y=*fp32:16"),
            0);
  EXPECT_EQ(barriersOf("    at = tl.arange(0, 1024)\n"
                       "    tl.store(y + at, tl.load(x + at) + 1)\n"
                       "    tl.store(y + at, tl.load(x + at) * 2)\n",
                       "x=*fp32:16, y=*fp32:16"),
            0);
}

TEST(NvidiaMemoryOrder, OneThreadStoresAScalarThatAllHaveLoaded) {
  EXPECT_EQ(barriersOf("    tl.store(x, tl.load(x) + 1)\n"
                       "    tl.store(y, tl.load(x))\n",
                       "x=*i32, y=*i64"),
            3); // load | store | load | store through what may be the same tensor
}

TEST(NvidiaMemoryOrder, ThreadsHoldReplicasOfASmallTile) {
  EXPECT_EQ(barriersOf("    at = x + tl.arange(0, 32)\n"
                       "    tl.store(at, tl.load(at) + 1)\n",
                       "x=*fp32, y=*fp32"),
            1);
}

TEST(NvidiaMemoryOrder, ElementsOfATileMayHaveOneAddress) {
  EXPECT_EQ(barriersOf("    at = x + tl.arange(0, 1024) // 8\n"
                       "    tl.store(at, tl.load(at) + 1)\n",
                       "x=*fp32, y=*fp32"),
            1);
}

TEST(NvidiaMemoryOrder, TwoArgumentsMayBeOneTensorHeldByOtherThreads) {
  // y has no promise, so that its elements are stored one by one.
  EXPECT_EQ(barriersOf("    at = tl.arange(0, 1024)\n"
                       "    tl.store(y + at, at.to(tl.float32))\n"
                       "    tl.store(x + at, tl.load(x + at) * 2)\n",
                       "x=*fp32:16, y=*fp32"),
            1);
}

TEST(NvidiaMemoryOrder, AnotherTurnOfALoopReachesElementsOfOtherThreads) {
  // One element further in each turn; one barrier in the text, in front of the store.
  EXPECT_EQ(barriersOf("    at = tl.arange(0, 128)\n"
                       "    for turn in range(tl.load(y)):\n"
                       "        tl.store(x + at + turn, at + turn)\n",
                       "x=*i32:16, y=*i32"),
            1);
  // The turns of the outer loop, too, behind a loop within.
  EXPECT_EQ(barriersOf("    at = tl.arange(0, 128)\n"
                       "    for turn in range(tl.load(y)):\n"
                       "        for other in range(tl.load(y)):\n"
                       "            tl.debug_barrier()\n"
                       "        tl.store(x + at + turn, at + turn)\n",
                       "x=*i32:16, y=*i32"),
            2);
}

TEST(NvidiaMemoryOrder, TurnsThatMoveOnTouchOtherMemory) {
  const std::string i32 = "x=*i32:16, y=*i32";
  auto walked = [&](const std::string &head, const std::string &body) {
    return barriersOf("    at = tl.arange(0, 1024)\n    n = tl.load(y)\n    for start in " + head +
                          ":\n" + body,
                      i32);
  };
  const std::string store = "        tl.store(x + start + at, at)\n";
  EXPECT_EQ(walked("range(0, n, 1024)", store), 0);
  EXPECT_EQ(walked("range(0, n, 2048)", store), 0);
  EXPECT_EQ(walked("range(0, n, 1024)",
                   "        here = x + (start + at)\n        tl.store(here, tl.load(here) + 1)\n"),
            0)
      << "what it has loaded itself";
  EXPECT_EQ(walked("range(0, n, 1024)", "        tl.store(x + at, at)\n        at += 1024\n"), 0)
      << "as a value that is carried";
  EXPECT_EQ(walked("range(0, n, 1023)", store), 1) << "one element again";
  EXPECT_EQ(walked("range(0, n, n)", store), 1);
  EXPECT_EQ(walked("range(0, n, 1024)", "        tl.store(x + start + 2 * at, at)\n"), 1)
      << "2047 elements";
  EXPECT_EQ(walked("range(0, n, 1024)", "        tl.store(x + start // 2 + at, at)\n"), 1);
  EXPECT_EQ(walked("range(0, n, 1)", "        tl.store(x + at, at)\n        at += 1024\n"), 1)
      << "it may wrap around";
  EXPECT_EQ(walked("range(0, n, 1024)", "        tl.store(x + start + (at ^ 32), at)\n"), 1);
  EXPECT_EQ(walked("range(0, n, 1024)", "        tl.store(x + start + at, at)\n"
                                        "        tl.store(x + start + at + 1, at)\n"),
            2)
      << "two places";
  EXPECT_EQ(walked("range(0, n, 1024)", "        for again in range(0, 3):\n"
                                        "            tl.store(x + start + at, at)\n"),
            1)
      << "the same place three times";
  EXPECT_EQ(barriersOf("    at = tl.arange(0, 1024)\n    n = tl.load(y)\n"
                       "    for again in range(0, 3):\n"
                       "        for start in range(0, n, 1024):\n"
                       "            tl.store(x + start + at, at + again)\n",
                       i32),
            1)
      << "from the beginning once more";
}

TEST(NvidiaMemoryOrder, ALoopWaitsOnceForWhatWasBefore) {
  const std::string ptx = ptxOfText("\n@triton.jit\ndef k(x, n):\n    at = tl.arange(0, 1024)\n"
                                    "    tl.store(x + at + 5, at)\n"
                                    "    for start in range(0, n, 1024):\n"
                                    "        tl.store(x + start + at, at)\n",
                                    "x=*i32:16, n=i32");
  EXPECT_EQ(countOf(ptx, "bar.sync"), 1) << ptx;
  EXPECT_LT(ptx.find("bar.sync"), ptx.find("$L__BB0_1:")) << ptx;
}

TEST(NvidiaMemoryOrder, ReductionsStageWhereNoThreadReads) {
  const std::string load = "    a = tl.load(x + tl.arange(0, 1024))\n";
  const std::string sum = "    a = a + tl.sum(a, axis=0)\n",
                    store = "    tl.store(y, tl.sum(a, axis=0))\n";
  const std::string signature = "x=*fp32:16, y=*fp32:16";
  EXPECT_EQ(barriersOf(load + store, signature), 1);
  EXPECT_EQ(barriersOf(load + sum + sum + sum + store, signature), 4);
}

TEST(NvidiaMemoryOrder, AReductionWaitsForAnotherTurnAndForOtherStaging) {
  const std::string load = "    a = tl.load(x + tl.arange(0, 1024))\n";
  const std::string signature = "x=*fp32:16, y=*fp32:16";
  // In a turn of a loop nothing is known of what the turn before it reads.
  EXPECT_EQ(barriersOf(load + "    for i in range(7):\n"
                              "        a = a + tl.sum(a, axis=0)\n"
                              "    tl.store(y + tl.arange(0, 1024), a)\n",
                       signature),
            2);
  // A gather reads all of what was staged.
  EXPECT_EQ(barriersOf(load + "    a = tl.gather(a, 1023 - tl.arange(0, 1024), 0)\n"
                              "    tl.store(y, tl.sum(a, axis=0))\n",
                       signature),
            4);
}
