// SPDX-License-Identifier: Apache-2.0
// Panels of b that a program finds packed by the one before: in the same launch only, where they
// are made of the same numbers, and where nobody writes to b.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// c = a @ b of row-major matrices with N columns; `depth` is how many k a program adds up.
std::string product(const std::string &depth = "K", const std::string &behind = "",
                    const std::string &columns = "tl.program_id(1) * BN",
                    const std::string &tile = "pid") {
  return fmt::format(R"(
@triton.jit
def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    rm = {3} * BM + tl.arange(0, BM)
    rn = {1} + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, {0}, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :],
                    mask=(rm[:, None] < M) & ((k + rk)[None, :] < {0}), other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :],
                    mask=((k + rk)[:, None] < {0}) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y, input_precision="ieee")
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
{2})",
                     depth, columns, behind, tile);
}

constexpr const char *signature = "a=*fp32, b=*fp32, c=*fp32, M=i32, N=i32, K=i32, "
                                  "BM=16, BN=128, BK=32";
constexpr const char *wideVectors = "x86-64-v4";

bool canRun() {
  std::vector<std::string> all = runnableArchitectures();
  return std::find(all.begin(), all.end(), wideVectors) != all.end();
}

/// Scratch for one block of k would be a twentieth of it.
bool keepsPanels(const std::string &source) {
  LoweredKernel kernel = lowerSource(source, signature, wideVectors);
  EXPECT_EQ(kernel.error, "");
  return kernel.scratchBytes > 1 << 20;
}

std::string compare(const std::string &source, int64_t m, int64_t n, int64_t k) {
  Tensor a = randomTensor({m, k}, DType::F32, 1), b = randomTensor({k, n}, DType::F32, 2);
  Tensor c = randomTensor({m, n}, DType::F32, 3);
  std::array<int32_t, 3> grid{static_cast<int32_t>((m + 15) / 16),
                              static_cast<int32_t>((n + 127) / 128), 1};
  return compareWithOracle(source, signature, grid, {&a, &b, &c, m, n, k}, 1e-6 * (10.0 + k));
}

TEST(GemmPanelCache, RowsShareColumns) {
  EXPECT_TRUE(keepsPanels(product()));
  EXPECT_EQ(compare(product(), 100, 300, 200), "");
}

/// Beside its tiles there is no room for them: the kernel does without, and says so.
TEST(GemmPanelCache, NotWhereScratchMemoryIsShort) {
  LoweredKernel kernel = lowerSource(product(), signature, wideVectors, {1 << 20});
  EXPECT_EQ(kernel.error, "");
  EXPECT_LT(kernel.scratchBytes, 1U << 20);
  EXPECT_NE(kernel.remarks.find("not recognised as packed columns that serve the programs that "
                                "follow: beside its tiles they exceed the scratch memory"),
            std::string::npos)
      << kernel.remarks;
}

TEST(GemmPanelCache, MoreThanIsCached) { EXPECT_EQ(compare(product(), 40, 100, 2600), ""); }

/// The columns are the same, but not what was packed of them.
TEST(GemmPanelCache, ProgramsOfOtherDepths) {
  EXPECT_EQ(compare(product("min(K, (pid + 1) * 150)"), 70, 128, 400), "");
  EXPECT_EQ(compare(product("min(K, pid % 2 * K)"), 70, 128, 300), "");
}

TEST(GemmPanelCache, ProgramsOfOtherColumns) {
  for (const char *columns : {"pid % 2 * 4", "(pid + tl.program_id(1)) % 3 * BN"}) {
    EXPECT_EQ(compare(product("K", "", columns), 70, 300, 170), "") << columns;
  }
}

/// The first programs have no rows, and so pack nothing.
TEST(GemmPanelCache, ProgramsWithoutRows) {
  std::string source = product();
  const std::string rising = "pid = tl.program_id(0)";
  source.replace(source.find(rising), rising.size(),
                 "pid = tl.num_programs(0) - 1 - tl.program_id(0)");
  Tensor a = randomTensor({40, 200}, DType::F32, 1), b = randomTensor({200, 128}, DType::F32, 2);
  Tensor c = randomTensor({40, 128}, DType::F32, 3);
  EXPECT_EQ(compareWithOracle(source, signature, {6, 1, 1},
                              {&a, &b, &c, int64_t{40}, int64_t{128}, int64_t{200}}, 1e-3),
            "");
}

/// The last tile of rows keeps nothing, and stands first.
TEST(GemmPanelCache, RowsFromTheLastToTheFirst) {
  const char *tile = "(tl.num_programs(0) - 1 - pid)";
  EXPECT_EQ(compare(product("K", "", "tl.program_id(1) * BN", tile), 100, 300, 200), "");
}

TEST(GemmPanelCache, OnlyWhereNothingElseWrites) {
  EXPECT_FALSE(keepsPanels(product("K", "    tl.store(b + pid, 1.0)\n")));
  EXPECT_FALSE(keepsPanels(product("K", "    tl.atomic_add(c + pid, 1.0)\n")));
}

std::vector<float> smallNumbers(int64_t count, int64_t seed) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>((i * 7 + i / 11 + seed) % 5) - 2);
  }
  return numbers;
}

/// Element (row, column) of a * b.
float sumOf(const std::vector<float> &a, const std::vector<float> &b, int64_t size, int64_t row,
            int64_t column) {
  float sum = 0; // small whole numbers: exact
  for (int64_t k = 0; k < size; ++k) {
    sum += a[row * size + k] * b[k * size + column];
  }
  return sum;
}

constexpr int64_t size = 128;

/// Programs of one kernel, called with the same scratch memory.
class PanelCachePrograms : public ::testing::Test {
protected:
  void SetUp() override {
    if (!canRun()) {
      GTEST_SKIP() << "needs " << wideVectors;
    }
    kernel = lowerSource(product(), signature, wideVectors);
    ASSERT_EQ(kernel.error, "");
    memory.assign(kernel.scratchBytes + 64, 0xCD);
  }
  /// `follows`: what the runtime says of a program that is not the first.
  void run(int32_t pid, bool follows, const float *a, const float *b, float *c) {
    const std::array<uint64_t, 6> slots{address(a),   address(b),   address(c),
                                        number(size), number(size), number(size)};
    const std::array<int32_t, 5> id{pid, 0, 0, pid + 1, follows ? 1 : 0};
    const std::array<int32_t, 3> grid{static_cast<int32_t>(size / 16), 1, 1};
    kernel.entry(slots.data(), id.data(), grid.data(),
                 reinterpret_cast<uint8_t *>((address(memory.data()) + 63) / 64 * 64));
  }

  LoweredKernel kernel;
  std::vector<uint8_t> memory;
};

TEST_F(PanelCachePrograms, AnotherLaunchPacksAgain) {
  std::vector<float> a = smallNumbers(size * size, 1), b = smallNumbers(size * size, 2);
  std::vector<float> c(size * size), before = b;
  run(0, false, a.data(), b.data(), c.data());
  std::fill(b.begin(), b.end(), 1.0F);
  run(1, true, a.data(), b.data(), c.data()); // finds what was packed of the old b
  run(2, false, a.data(), b.data(), c.data());
  for (int64_t row = 0; row < 48; ++row) {
    for (int64_t column = 0; column < size; ++column) {
      ASSERT_EQ(c[row * size + column], sumOf(a, row < 32 ? before : b, size, row, column))
          << row << ", " << column;
    }
  }
}

TEST_F(PanelCachePrograms, NothingIsCachedWhereNoRowsFollow) {
  std::vector<float> a = smallNumbers(size * size, 1), b = smallNumbers(size * size, 2);
  std::vector<float> c(size * size);
  for (bool follows : {false, true}) {
    run(size / 16 - 1, follows, a.data(), b.data(), c.data());
    for (int64_t row = size - 16; row < size; ++row) {
      for (int64_t column = 0; column < size; ++column) {
        ASSERT_EQ(c[row * size + column], sumOf(a, b, size, row, column)) << row << ", " << column;
      }
    }
    std::fill(b.begin(), b.end(), 1.0F);
  }
}

/// One program's result is the next one's operand.
TEST_F(PanelCachePrograms, ResultsThatOverwriteColumns) {
  const std::vector<float> a = smallNumbers(size * size, 1);
  std::vector<float> b = smallNumbers(size * size, 2), expected = b;
  for (int32_t pid = 0; pid < 2; ++pid) {
    const std::vector<float> before = expected;
    for (int64_t row = pid * 16; row < pid * 16 + 16; ++row) {
      for (int64_t column = 0; column < size; ++column) {
        expected[row * size + column] = sumOf(a, before, size, row, column);
      }
    }
    run(pid, pid > 0, a.data(), b.data(), b.data());
    ASSERT_EQ(b, expected) << pid;
  }
}

} // namespace
