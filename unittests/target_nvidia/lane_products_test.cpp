// SPDX-License-Identifier: Apache-2.0
// Products that lanes make on vectors of shared memory, by the code that they become.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

namespace {

/// c = a @ b in float32, tiles of 64 x 64, 32 of k at a time, four warps.
std::string productOf(const std::string &a, const std::string &b, const std::string &options = "") {
  return ptxOfText("\n@triton.jit\ndef k(a, b, c, K, step):\n"
                   "    i = tl.arange(0, 32)\n"
                   "    n = tl.arange(0, 64)\n"
                   "    acc = tl.zeros((64, 64), dtype=tl.float32)\n"
                   "    for k in range(0, K, 32):\n"
                   "        along = n[:, None] * step + k + i[None, :]\n"
                   "        across = (k + i[:, None]) * step + n[None, :]\n"
                   "        acc = tl.dot(" +
                       a + ", " + b +
                       ", acc, input_precision='ieee')\n"
                       "    tl.store(c + n[:, None] * 64 + n[None, :], acc)\n",
                   "a=*fp32:16, b=*fp32:16, c=*fp32:16, K=i32, step=i32:16" + options);
}

} // namespace

// 32 sums of a thread, 16 steps of k that are written out: of four rows along k four vectors, of
// eight columns along n two for each step.
TEST(NvidiaLaneProducts, ThreadsReadVectorsOfSlots) {
  const std::string ptx = productOf("tl.load(a + along)", "tl.load(b + across)");
  EXPECT_EQ(countOf(ptx, "fma.rn.f32"), 512);
  EXPECT_EQ(countOf(ptx, "ld.shared.v4.b32"), 4 * 4 + 16 * 2);
  EXPECT_EQ(countOf(ptx, "ld.shared"), 4 * 4 + 16 * 2);
  EXPECT_EQ(countOf(ptx, "cp.async.cg.shared.global"), 2 * 8); // in front of the loop and in it
  EXPECT_EQ(countOf(ptx, "ld.global"), 0);
  EXPECT_EQ(countOf(ptx, "st.shared"), 0);
  EXPECT_EQ(countOf(ptx, "bar.sync"), 3);
  EXPECT_EQ(countOf(ptx, "st.global.v4.b32"), 8); // neighbours of a row are one thread's
}

TEST(NvidiaLaneProducts, TransposedOperandsAreReadAsTheyLie) {
  const std::string ptx = productOf("tl.load(a + across).T", "tl.load(b + along).T");
  EXPECT_EQ(countOf(ptx, "fma.rn.f32"), 512);
  // Rows are read as vectors of four, columns at four steps of k: each of them one vector.
  EXPECT_EQ(countOf(ptx, "ld.shared"), countOf(ptx, "ld.shared.v4.b32"));
  EXPECT_EQ(countOf(ptx, "st.shared"), 0);
}

TEST(NvidiaLaneProducts, OperandsThatAreComputedAreStoredInVectors) {
  const std::string ptx = productOf("tl.load(a + along) * 2.0", "tl.load(b + across)");
  EXPECT_EQ(countOf(ptx, "st.shared.v4.b32"), 4); // 2048 elements of 128 threads
  EXPECT_EQ(countOf(ptx, "st.shared"), 4);
  EXPECT_EQ(countOf(ptx, "ld.shared"), 4 * 4 + 16 * 2);
  EXPECT_EQ(countOf(ptx, "cp.async.cg.shared.global"), 8); // b alone
}

TEST(NvidiaLaneProducts, OneStageLoadsInItsOwnTurn) {
  const std::string ptx = productOf("tl.load(a + along)", "tl.load(b + across)", ", num_stages=1");
  EXPECT_EQ(countOf(ptx, "cp.async"), 0);
  EXPECT_EQ(countOf(ptx, "st.shared.v4.b32"), 8);
  EXPECT_EQ(countOf(ptx, "ld.shared"), 4 * 4 + 16 * 2);
}
