// SPDX-License-Identifier: Apache-2.0
// Products of warpgroups: who holds what, which products they are, and what is waited for.
#include "lib/targets/nvidia/layouts/MatrixLayouts.h"
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::nvidia;

namespace {

struct Loop {
  std::string m = "64", n = "64", k = "64";
  std::string type = "fp16";
  std::string sum = "acc = tl.dot(x, y, acc)";
  std::string right = "tl.load(b + (at + j[:, None]) * N + cols[None, :])";
  std::string options;
  std::string target = "nvidia:sm_90a";
};

std::string loopPtx(const Loop &loop) {
  return ptxOfText("\n@triton.jit\ndef k(a, b, c, K, N, BM: tl.constexpr, BN: tl.constexpr, "
                   "BK: tl.constexpr):\n"
                   "    rows = tl.arange(0, BM)\n"
                   "    cols = tl.arange(0, BN)\n"
                   "    j = tl.arange(0, BK)\n"
                   "    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
                   "    for at in range(0, K, BK):\n"
                   "        x = tl.load(a + rows[:, None] * K + (at + j)[None, :])\n"
                   "        y = " +
                       loop.right + "\n        " + loop.sum +
                       "\n"
                       "    tl.store(c + rows[:, None] * N + cols[None, :], acc)\n",
                   "a=*" + loop.type + ":16, b=*" + loop.type +
                       ":16, c=*fp32:16, K=i32:16, N=i32:16, BM=" + loop.m + ", BN=" + loop.n +
                       ", BK=" + loop.k + loop.options,
                   loop.target);
}

int productsOf(const Loop &loop) { return countOf(loopPtx(loop), "wgmma.mma_async"); }

} // namespace

// PTX ISA, "Register Fragments and Shared Memory Matrix Layouts for wgmma": register i of thread t
// of a group.
TEST(WarpgroupLayout, ResultsAreHeldAsTheInstructionHasThem) {
  struct Tile {
    int64_t rows, columns, warps;
  };
  for (const Tile &tile : {Tile{64, 8, 4}, Tile{64, 256, 4}, Tile{128, 64, 4}, Tile{128, 128, 8},
                           Tile{64, 128, 8}, Tile{256, 64, 8}, Tile{128, 256, 16}}) {
    const auto grid = warpgroupGridFor(tile.rows, tile.columns, tile.warps);
    ASSERT_TRUE(grid);
    const auto layout = accumulatorLayout(tile.rows, tile.columns, *grid);
    EXPECT_TRUE(layout.isComplete());
    const int64_t groupRows = grid->rows / 4, width = tile.columns / grid->columns;
    for (int64_t warp = 0; warp < tile.warps; ++warp) {
      const int64_t group = warp / 4;
      for (int64_t lane = 0; lane < 32; ++lane) {
        for (int64_t reg = 0; reg < layout.count(layout::Holder::Register); ++reg) {
          const int64_t block = reg / (width / 2), i = reg % (width / 2);
          const int64_t row = 64 * (block * groupRows + group % groupRows) + 16 * (warp % 4) +
                              lane / 4 + 8 * (i / 2 % 2);
          const int64_t column = width * (group / groupRows) + 8 * (i / 4) + 2 * (lane % 4) + i % 2;
          ASSERT_EQ(layout.elementAt(reg, lane, warp), row * tile.columns + column);
        }
      }
    }
  }
}

TEST(WarpgroupLayout, TilesThatGroupsDoNotShareOutHaveNone) {
  EXPECT_FALSE(warpgroupGridFor(64, 64, 2));
  EXPECT_FALSE(warpgroupGridFor(32, 64, 4));
  EXPECT_FALSE(warpgroupGridFor(64, 8, 8));
}

TEST(WarpgroupProducts, AreThoseOfCopiedMatricesOfSixteenBits) {
  EXPECT_EQ(productsOf({}), 4); // 64 of k, 16 at a time
  EXPECT_EQ(productsOf({.m = "128"}), 8);
  EXPECT_EQ(productsOf({.m = "128", .n = "256", .type = "bf16", .options = ", num_warps=8"}), 4);
  EXPECT_EQ(productsOf({.k = "16"}), 1);
  EXPECT_EQ(
      productsOf({.k = "32", .right = "tl.load(b + cols[:, None] * K + (at + j)[None, :]).T"}), 2);
}

TEST(WarpgroupProducts, OthersAreMadeByWarps) {
  for (const Loop &loop : {Loop{.target = "nvidia:sm_80"}, Loop{.target = "nvidia:sm_90"},
                           Loop{.m = "32"}, Loop{.options = ", num_warps=2"},
                           Loop{.right = Loop{}.right + " * 2"}, Loop{.options = ", num_stages=1"},
                           // Two groups would share a panel of 64 columns.
                           Loop{.options = ", num_warps=8"}}) {
    const std::string ptx = loopPtx(loop);
    EXPECT_EQ(countOf(ptx, "wgmma"), 0);
    EXPECT_GT(countOf(ptx, "mma.sync"), 0);
  }
}

TEST(WarpgroupProducts, OnlyASumThatTheNextTurnAddsToIsDeferred) {
  // One product may be under way at the end of a turn, none behind the loop.
  const std::string carried = loopPtx({});
  EXPECT_EQ(countOf(carried, "wgmma.wait_group.sync.aligned 1;"), 1);
  EXPECT_EQ(countOf(carried, "wgmma.wait_group.sync.aligned 0;"), 1);
  const std::string scaled = loopPtx({.sum = "acc = tl.dot(x, y, acc * 0.5)"});
  EXPECT_EQ(countOf(scaled, "wgmma.wait_group.sync.aligned 1;"), 0);
  EXPECT_EQ(countOf(scaled, "wgmma.wait_group.sync.aligned 0;"), 1);
}

TEST(WarpgroupProducts, ASumIsAddedToWhileTheProductIsMade) {
  const auto additionsOf = [](const std::string &sum) {
    const std::string ptx = loopPtx({.sum = sum});
    return countOf(ptx, "add.f32") + countOf(ptx, "add.rn.f32") + countOf(ptx, "fma.rn.f32");
  };
  EXPECT_EQ(additionsOf("acc += tl.dot(x, y)"), 0);
  EXPECT_EQ(additionsOf("acc = tl.dot(x, y) + acc"), 0);
  // Somebody else needs the product by itself.
  EXPECT_GT(additionsOf("p = tl.dot(x, y)\n        acc += p + p"), 0);
}

TEST(WarpgroupProducts, RegistersLeaveRoomForTheProgramsThatSharedMemoryHasRoomFor) {
  // 3 slots of 32 KiB: two programs of 256 threads, 65,536 registers.
  const Loop two{.m = "128", .n = "128", .options = ", num_warps=8"};
  EXPECT_EQ(countOf(loopPtx(two), ".maxnreg 128"), 1);
  const Loop one{.m = "128", .n = "256", .options = ", num_warps=8"};
  EXPECT_EQ(countOf(loopPtx(one), ".maxnreg"), 0);
  Loop given = two;
  given.options += ", maxnreg=96";
  EXPECT_EQ(countOf(loopPtx(given), ".maxnreg 96"), 1);
}
