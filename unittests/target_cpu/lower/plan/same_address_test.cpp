// SPDX-License-Identifier: Apache-2.0
// Addresses that look alike and are not the same: a load and a store of one tensor that may not
// take turns element by element. Against the interpreter.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

TEST(SameAddress, EqualAtomicsReturnDifferentNumbers) {
  const char *const source = R"(
@triton.jit
def kernel(counter, x, BLOCK: tl.constexpr):
    i = tl.atomic_add(counter, 1)
    j = tl.atomic_add(counter, 1)
    o = tl.arange(0, BLOCK)
    tl.store(x + j + o, tl.load(x + i + o) + 1)
)";
  Tensor counter = randomTensor({1}, DType::I32, 1), x = randomTensor({260}, DType::I32, 2);
  counter.set(0, 0);
  EXPECT_EQ(
      compareWithOracle(source, "counter=*i32, x=*i32, BLOCK=256", {1, 1, 1}, {&counter, &x}, 0),
      "");
}

TEST(SameAddress, ResultsOfOneOperationDiffer) {
  const char *const source = R"(
@triton.jit
def kernel(pairs, x, BLOCK: tl.constexpr):
    p = tl.load(pairs + tl.arange(0, 2 * BLOCK))
    low, high = tl.split(tl.reshape(p, (BLOCK, 2)))
    tl.store(x + high, tl.load(x + low) + 1)
)";
  constexpr int64_t block = 256;
  Tensor pairs = randomTensor({2 * block}, DType::I32, 1);
  Tensor x = randomTensor({block + 1}, DType::I32, 2);
  for (int64_t i = 0; i < block; ++i) {
    pairs.set(2 * i, static_cast<double>(i));
    pairs.set(2 * i + 1, static_cast<double>(i + 1));
  }
  EXPECT_EQ(compareWithOracle(source, "pairs=*i32, x=*i32, BLOCK=256", {1, 1, 1}, {&pairs, &x}, 0),
            "");
}

/// Neighbours in a tile are stored to before the tile's later elements are loaded, in one nest.
TEST(SameAddress, ATileMayHoldAnAddressTwice) {
  for (const char *index :
       {"(o + 1) // 2", "o % n", "tl.load(table + o)", "o * 0", "o - o", "n + 0 * o",
        "tl.reshape(tl.arange(0, 16)[:, None] + tl.arange(0, 16)[None, :], (256,))"}) {
    const std::string source = R"(
@triton.jit
def kernel(x, table, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    i = )" + std::string(index) +
                               R"(
    tl.store(x + i, tl.load(x + i) + 1)
)";
    Tensor x = randomTensor({300}, DType::I32, 1), table = randomTensor({256}, DType::I32, 2);
    for (int64_t i = 0; i < 256; ++i) {
      table.set(i, static_cast<double>(i / 7));
    }
    EXPECT_EQ(compareWithOracle(source, "x=*i32, table=*i32, n=i32, BLOCK=256", {1, 1, 1},
                                {&x, &table, int64_t(10)}, 0),
              "")
        << index;
  }
}

TEST(SameAddress, RowsMayOverlap) {
  const char *const source = R"(
@triton.jit
def kernel(x, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = 3 * tl.arange(0, ROWS)[:, None] + tl.arange(0, COLUMNS)[None, :]
    tl.store(x + i, tl.load(x + i) + 1)
)";
  Tensor x = randomTensor({300}, DType::I32, 1);
  EXPECT_EQ(compareWithOracle(source, "x=*i32, ROWS=16, COLUMNS=64", {1, 1, 1}, {&x}, 0), "");
}

/// What is known when the kernel is compiled does not say that the rows lie apart.
TEST(SameAddress, StridesThatAreKnownAtRunTimeOnly) {
  const char *const source = R"(
@triton.jit
def kernel(x, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = stride * tl.arange(0, ROWS)[:, None] + tl.arange(0, COLUMNS)[None, :]
    tl.store(x + i, tl.load(x + i) + 1)
)";
  for (const char *shape : {"ROWS=16, COLUMNS=64", "ROWS=256, COLUMNS=1", "ROWS=2, COLUMNS=256"}) {
    for (int64_t stride : {0, 1, 3, 64, 70}) {
      Tensor x = randomTensor({70 * 256}, DType::I32, 1);
      EXPECT_EQ(compareWithOracle(source, std::string("x=*i32, stride=i32, ") + shape, {1, 1, 1},
                                  {&x, stride}, 0),
                "")
          << shape << " stride " << stride;
    }
  }
}

TEST(SameAddress, StridesThatAreKnownAtRunTimeOnlyOfColumnsToo) {
  const char *const source = R"(
@triton.jit
def kernel(x, down, right, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = 128 + down * tl.arange(0, ROWS)[:, None] + right * tl.arange(0, COLUMNS)[None, :]
    tl.store(x + i, tl.load(x + i) * 2)
)";
  for (auto [down, right] :
       {std::pair<int64_t, int64_t>(1, 16), {16, 1}, {0, 3}, {1, 1}, {2, -1}}) {
    Tensor x = randomTensor({4096}, DType::I32, 1);
    EXPECT_EQ(compareWithOracle(source, "x=*i32, down=i32, right=i32, ROWS=16, COLUMNS=64",
                                {1, 1, 1}, {&x, down, right}, 0),
              "")
        << down << " and " << right;
  }
}

/// The later of two stores wins, also where only one of two equal addresses is stored to again.
TEST(SameAddress, TheLaterStoreWins) {
  const char *const source = R"(
@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    p = x + (o + 1) // 2
    tl.store(p, (o + 1) // 2 + 1000)
    tl.store(p, o, mask=o % 2 == 1)
)";
  Tensor x = randomTensor({300}, DType::I32, 1);
  EXPECT_EQ(compareWithOracle(source, "x=*i32, BLOCK=256", {1, 1, 1}, {&x}, 0), "");
}

/// Rows of a that are read twice are added to the same rows of c, which are stored when they are
/// done.
TEST(SameAddress, ProductsOfWrappedRowsInPlace) {
  const char *const source = R"(
@triton.jit
def kernel(a, b, c, n, K, B: tl.constexpr):
    r = tl.arange(0, B)
    k = tl.arange(0, 32)
    rows = r % n
    acc = tl.zeros((B, B), tl.float32)
    for i in range(0, K, 32):
        x = tl.load(a + rows[:, None] * K + (i + k)[None, :])
        acc = tl.dot(x, tl.load(b + (i + k)[:, None] * B + r[None, :]), acc)
    p = c + rows[:, None] * B + r[None, :]
    tl.store(p, tl.load(p) + acc)
)";
  Tensor a = randomTensor({64, 96}, DType::F32, 1), b = randomTensor({96, 64}, DType::F32, 2);
  Tensor c = randomTensor({64, 64}, DType::F32, 3);
  EXPECT_EQ(compareWithOracle(source, "a=*fp32, b=*fp32, c=*fp32, n=i32, K=i32, B=64", {1, 1, 1},
                              {&a, &b, &c, int64_t(40), int64_t(96)}),
            "");
}

} // namespace
