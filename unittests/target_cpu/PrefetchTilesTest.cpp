// SPDX-License-Identifier: Apache-2.0
// Prefetches of the tiles that the next iteration of a loop with products copies to scratch: how
// many, how far ahead, and none where nothing is known of the next iteration.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// Two products for each block of keys; `keys` and `next` say where the blocks are.
std::string sourceWith(const std::string &before, const std::string &keys,
                       const std::string &next = "") {
  return R"(
@triton.jit
def kernel(q, k, order, out, n, D: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    d = tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + d[None, :])
    acc = tl.zeros((B, D), tl.float32)
)" + before +
         R"(
    for first in range(0, n, B):
        rows = first + i
        key = tl.load()" +
         keys + R"(, mask=rows[:, None] < n, other=0.0)
        score = tl.dot(query, tl.trans(key), input_precision="ieee")
        acc = tl.dot(score, key, acc, input_precision="ieee")
)" + next +
         R"(
    tl.store(out + i[:, None] * D + d[None, :], acc)
)";
}

const std::string byNumber = sourceWith("", "k + rows[:, None] * D + d[None, :]");
const std::string byPointer =
    sourceWith("    p = k + i[:, None] * D + d[None, :]", "p", "        p += B * D");
const std::string byOrder =
    sourceWith("", "k + tl.load(order + first // B) * D * B + i[:, None] * D + d[None, :]");

const char *signature = "*fp32, *fp32, *i32, *fp32, i32, 64, 32";

TEST(PrefetchTiles, EveryVectorOfTheNextTile) {
  for (const std::string &source : {byNumber, byPointer}) {
    const LoweredKernel kernel = lowerSource(source, signature);
    ASSERT_EQ(kernel.error, "");
    EXPECT_EQ(countOf(kernel.loops, "llvm.intr.prefetch"), 4u) << source; // of a row
  }
}

/// 32 rows of 64 numbers: what the pointers grow by is added once for the next iteration and once
/// for its address.
TEST(PrefetchTiles, AsFarAheadAsTheNextTileIs) {
  const LoweredKernel kernel = lowerSource(byPointer, signature);
  EXPECT_EQ(countOf(kernel.loops, "arith.extsi %c2048_i32"), 2u) << kernel.loops;
  EXPECT_EQ(countOf(kernel.loops, "llvm.ptrtoint"), 2u);
}

TEST(PrefetchTiles, NotWhereTheNextTileIsReadFromMemory) {
  const LoweredKernel kernel = lowerSource(byOrder, signature);
  ASSERT_EQ(kernel.error, "");
  EXPECT_EQ(countOf(kernel.loops, "llvm.intr.prefetch"), 0u);
}

TEST(PrefetchTiles, NotInLoopsWithoutProducts) {
  const char *source = R"(
@triton.jit
def kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for first in range(0, n, B):
        rows = first + i
        tile = tl.load(x + rows[:, None] * B + i[None, :])
        acc += tl.sort(tile) * tile
    tl.store(out + i[:, None] * B + i[None, :], acc)
)";
  const LoweredKernel kernel = lowerSource(source, "*fp32, *fp32, i32, 64");
  ASSERT_EQ(kernel.error, "");
  EXPECT_EQ(countOf(kernel.loops, "hint = 2"), 0u);
}

TEST(PrefetchTiles, TheResultStays) {
  for (const std::string &source : {byNumber, byPointer, byOrder}) {
    for (int64_t n : {64, 45, 0}) {
      Tensor q = randomTensor({32, 64}, DType::F32, 1), k = randomTensor({64, 64}, DType::F32, 2);
      Tensor order = Tensor::empty({2}, DType::I32), out = Tensor::empty({32, 64}, DType::F32);
      order.set(0, 1);
      order.set(1, 0);
      EXPECT_EQ(compareWithOracle(source, signature, {1, 1, 1}, {&q, &k, &order, &out, n}, 1e-4),
                "")
          << source << n;
    }
  }
}

} // namespace
