// SPDX-License-Identifier: Apache-2.0
// Products of bytes by warpgroups, which read them along the dimension that is summed over, and
// tiles that are turned for it.
#include "lib/targets/nvidia/layouts/SharedTile.h"
#include "lib/targets/nvidia/products/TurnedCopy.h"
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

using namespace nereid;
using namespace nereid::nvidia;
using layout::Holder;
using layout::LinearLayout;

namespace {

struct Loop {
  std::string left = "tl.load(a + rows[:, None] * K + (at + j)[None, :])";
  std::string right = "tl.load(b + cols[:, None] * K + (at + j)[None, :]).T";
  std::string m = "64", n = "64", k = "64";
  std::string options;
  std::string target = "nvidia:sm_90a";
};

std::string loopPtx(const Loop &loop) {
  return ptxOfText("\n@triton.jit\ndef k(a, b, c, K, N, BM: tl.constexpr, BN: tl.constexpr, "
                   "BK: tl.constexpr):\n"
                   "    rows = tl.arange(0, BM)\n"
                   "    cols = tl.arange(0, BN)\n"
                   "    j = tl.arange(0, BK)\n"
                   "    acc = tl.zeros((BM, BN), dtype=tl.int32)\n"
                   "    for at in range(0, K, BK):\n"
                   "        x = " +
                       loop.left + "\n        y = " + loop.right +
                       "\n"
                       "        acc = tl.dot(x, y, acc, out_dtype=tl.int32)\n"
                       "    tl.store(c + rows[:, None] * N + cols[None, :], acc)\n",
                   "a=*i8:16, b=*i8:16, c=*i32:16, K=i32:16, N=i32:16, BM=" + loop.m +
                       ", BN=" + loop.n + ", BK=" + loop.k + loop.options,
                   loop.target);
}

using Word = std::array<int, 4>; // numbers of elements, instead of their bytes

/// The bytes that `prmt` picks of two words.
Word picked(const Word &first, const Word &second, uint32_t selector) {
  Word result;
  for (size_t i = 0; i < 4; ++i) {
    const uint32_t byte = selector >> (4 * i) & 15;
    result[i] = byte < 4 ? first[byte] : second[byte - 4];
  }
  return result;
}

} // namespace

TEST(ByteProducts, AreMadeByWarpgroups) {
  const std::string ptx = loopPtx({});
  EXPECT_EQ(countOf(ptx, "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8"), 2);
  EXPECT_EQ(countOf(ptx, "mma.sync"), 0);
  // Both operands are copied ahead as they lie: 4 KiB each, 16 bytes a thread.
  EXPECT_EQ(countOf(ptx, "cp.async.cg.shared.global"), 8);
  EXPECT_EQ(countOf(ptx, "ldmatrix"), 0);
  EXPECT_EQ(countOf(ptx, "ld.global"), 0);
  EXPECT_EQ(countOf(loopPtx({.m = "128", .n = "256", .k = "128", .options = ", num_warps=8"}),
                    "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8"),
            4);
}

TEST(ByteProducts, AnOperandThatRunsAlongTheOtherDimensionIsTurned) {
  const std::string right = "tl.load(b + (at + j)[:, None] * N + cols[None, :])";
  const std::string ptx = loopPtx({.right = right});
  EXPECT_EQ(countOf(ptx, "wgmma.mma_async"), 2);
  // 64 x 64 bytes, of which a warp turns 32 x 16 at a time.
  EXPECT_EQ(countOf(ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), 2);
  EXPECT_EQ(countOf(ptx, "stmatrix.sync.aligned.m8n8.x4.shared.b16"), 2);
  EXPECT_EQ(countOf(ptx, "prmt.b32"), 8);
  // Warpgroups see it behind a fence and a barrier of its own.
  const size_t turned = ptx.rfind("stmatrix"), fence = ptx.find("fence.proxy.async", turned);
  const size_t product = ptx.find("wgmma.mma_async");
  EXPECT_LT(turned, fence);
  EXPECT_LT(fence, ptx.find("bar.sync", turned));
  EXPECT_LT(ptx.find("bar.sync", turned), product);
  const std::string left = "tl.load(a + (at + j)[:, None] * N + rows[None, :]).T";
  EXPECT_EQ(countOf(loopPtx({.left = left, .right = right}), "stmatrix"), 4);
}

TEST(ByteProducts, OthersAreMadeByWarps) {
  for (const Loop &loop :
       {Loop{.target = "nvidia:sm_80"}, Loop{.target = "nvidia:sm_90"}, Loop{.m = "32"},
        Loop{.options = ", num_warps=2"}, Loop{.right = Loop{}.right + " * 2"},
        Loop{.options = ", num_stages=1"}}) {
    const std::string ptx = loopPtx(loop);
    EXPECT_EQ(countOf(ptx, "wgmma"), 0);
    EXPECT_GT(countOf(ptx, "mma.sync"), 0);
  }
}

// What ldmatrix, prmt and stmatrix do (PTX ISA), on numbers of elements.
TEST(TurnedTile, EveryElementComesToItsPlace) {
  struct Tile {
    int64_t rows, columns, fastest, warps;
  };
  for (const Tile &one : {Tile{32, 16, 1, 4}, Tile{64, 128, 1, 4}, Tile{128, 64, 1, 8},
                          Tile{16, 32, 0, 1}, Tile{256, 64, 0, 8}}) {
    const LinearLayout::Shape shape{one.rows, one.columns};
    const SharedTile from(shape, 1, one.fastest), to(shape, 1, 1 - one.fastest);
    const TurnedRows turned = turnedRowsOf(shape, one.fastest, one.warps);
    const auto read = from.placesOf(turned.read), written = to.placesOf(turned.written);
    std::vector<int> source(static_cast<size_t>(from.bytes())), target(source.size(), -1);
    for (int64_t element = 0; element < one.rows * one.columns; ++element) {
      source[static_cast<size_t>(from.placeOf(element))] = static_cast<int>(element);
    }
    for (int64_t warp = 0; warp < one.warps; ++warp) {
      for (int64_t reg = 0; reg < read.count(Holder::Register); ++reg) {
        std::array<std::array<Word, 4>, 32> words;
        for (int64_t lane = 0; lane < 32; ++lane) {
          for (int64_t matrix = 0; matrix < 4; ++matrix) {
            for (int64_t i = 0; i < 4; ++i) {
              const int64_t row = 2 * (lane % 4) + i / 2, at = 2 * (lane / 4) + i % 2;
              const int64_t begin = read.elementAt(reg, 8 * matrix + row, warp);
              words[size_t(lane)][size_t(matrix)][size_t(i)] = source[size_t(begin + at)];
            }
          }
        }
        for (int64_t lane = 0; lane < 32; ++lane) {
          const auto &own = words[size_t(lane)];
          const uint32_t turn = turnOf(static_cast<uint32_t>(lane));
          for (int64_t matrix = 0; matrix < 4; ++matrix) {
            const size_t pair = size_t(matrix) / 2 * 2;
            const Word word =
                picked(own[pair], own[pair + 1], matrix % 2 == 0 ? turn : turn ^ secondTurn);
            const int64_t begin = written.elementAt(reg, 8 * matrix + lane / 4, warp);
            for (int64_t i = 0; i < 4; ++i) {
              target[size_t(begin + 4 * (lane % 4) + i)] = word[size_t(i)];
            }
          }
        }
      }
    }
    for (int64_t element = 0; element < one.rows * one.columns; ++element) {
      ASSERT_EQ(target[static_cast<size_t>(to.placeOf(element))], element)
          << one.rows << " x " << one.columns << ", fastest " << one.fastest;
    }
  }
}

TEST(TurnedTile, NoTwoRowsOfAMatrixMeetInABank) {
  const LinearLayout::Shape shape{128, 128};
  for (int64_t fastest : {0, 1}) {
    const TurnedRows turned = turnedRowsOf(shape, fastest, 4);
    const auto expectApart = [](const LinearLayout &places) {
      for (int64_t matrix = 0; matrix < 4; ++matrix) {
        std::set<int64_t> banks;
        for (int64_t row = 0; row < 8; ++row) {
          banks.insert(places.elementAt(0, 8 * matrix + row, 0) % 128);
        }
        EXPECT_EQ(banks.size(), 8U);
      }
    };
    expectApart(SharedTile(shape, 1, fastest).placesOf(turned.read));
    expectApart(SharedTile(shape, 1, 1 - fastest).placesOf(turned.written));
  }
}
