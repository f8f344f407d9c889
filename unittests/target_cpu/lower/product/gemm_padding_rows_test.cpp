// SPDX-License-Identifier: Apache-2.0
// Padding rows of a product, beside infinities in the other operand: zero times
// infinity is NaN wherever the rows lie, whether any row of the tile is read, and in whichever
// block of k; on every vector width, by rule and against the interpreter.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// Rows i with i % PERIOD == 0 are padding. a's element (i, k) is at i * row_step + k * k_step.
const char *source = R"(
@triton.jit
def kernel(a, b, c, M, N, K, row_step, k_step, PERIOD: tl.constexpr, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    read = (rm < M) & (rm % PERIOD != 0)
    acc = tl.zeros((BM, BN), tl.float32)
    pa = a + rm[:, None] * row_step + rk[None, :] * k_step
    pb = b + rk[:, None] * N + rn[None, :]
    for k in range(0, K, BK):
        inside = rk < K - k
        x = tl.load(pa, mask=read[:, None] & inside[None, :], other=0.0)
        y = tl.load(pb, mask=inside[:, None] & (rn < N)[None, :], other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
        pa += BK * k_step
        pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
)";

struct Product {
  int64_t m, n, k;
  int period; ///< 1: no row is read
  bool columnMajor;
  const char *type;
  int64_t infiniteK, infiniteColumn; ///< -1: b is finite
  int blockM, blockN, blockK;
};

void check(const Product &p) {
  const DType type = std::string(p.type) == "bf16" ? DType::BF16 : DType::F32;
  Tensor a = randomTensor({p.m, p.k}, type, 1);
  Tensor b = randomTensor({p.k, p.n}, type, 2);
  Tensor c = randomTensor({p.m, p.n}, DType::F32, 3);
  auto place = [&](int64_t i, int64_t k) { return p.columnMajor ? k * p.m + i : i * p.k + k; };
  for (int64_t i = 0; i < p.m; i += p.period) {
    for (int64_t k = 0; k < p.k; ++k) { // a row that is read all the same shows
      a.set(place(i, k), std::numeric_limits<double>::quiet_NaN());
    }
  }
  if (p.infiniteK >= 0) {
    b.set(p.infiniteK * p.n + p.infiniteColumn, -std::numeric_limits<double>::infinity());
  }
  Arguments arguments = {&a,
                         &b,
                         &c,
                         p.m,
                         p.n,
                         p.k,
                         p.columnMajor ? int64_t(1) : p.k,
                         p.columnMajor ? p.m : int64_t(1)};
  auto blocks = [](int64_t size, int64_t block) {
    return static_cast<int32_t>((size + block - 1) / block);
  };
  std::array<int32_t, 3> grid{blocks(p.m, p.blockM), blocks(p.n, p.blockN), 1};
  std::string signature =
      fmt::format("a=*{0}, b=*{0}, c=*fp32, M=i32, N=i32, K=i32, row_step=i32, k_step=i32, "
                  "PERIOD={1}, BM={2}, BN={3}, BK={4}",
                  p.type, p.period, p.blockM, p.blockN, p.blockK);
  std::vector<Tensor> results;
  ASSERT_EQ(compareWithOracle(source, signature, grid, arguments,
                              1e-6 * static_cast<double>(p.k + 10), &results),
            "");
  for (int64_t i = 0; i < p.m * p.n; ++i) {
    const double value = results[2].at(i);
    const bool isPadding = i / p.n % p.period == 0;
    if (p.infiniteK >= 0 && i % p.n == p.infiniteColumn) {
      EXPECT_TRUE(isPadding ? std::isnan(value) : std::isinf(value)) << i << ": " << value;
    } else if (isPadding) {
      EXPECT_EQ(value, 0.0) << i;
    } else {
      EXPECT_TRUE(std::isfinite(value)) << i;
    }
  }
}

TEST(GemmPaddingRows, FiniteNumbersAddNothing) {
  check({37, 51, 45, 5, false, "fp32", -1, 0, 32, 64, 16});
  check({70, 64, 300, 3, true, "fp32", -1, 0, 64, 64, 32});
  check({40, 64, 20, 1, false, "fp32", -1, 0, 32, 64, 16});
  check({64, 128, 96, 4, false, "bf16", -1, 0, 32, 64, 32});
}

TEST(GemmPaddingRows, ZeroTimesInfinityIsNaN) {
  check({37, 51, 45, 5, false, "fp32", 44, 50, 32, 64, 16});
  check({40, 130, 20, 7, true, "fp32", 0, 129, 32, 64, 16});
  check({64, 128, 96, 4, false, "bf16", 33, 65, 32, 64, 32});
}

TEST(GemmPaddingRows, InALaterBlockOfK) {
  check({70, 64, 700, 3, false, "fp32", 699, 63, 64, 64, 32});
  check({70, 64, 700, 3, true, "fp32", 300, 0, 64, 64, 32});
}

TEST(GemmPaddingRows, WhereNoRowIsRead) {
  check({40, 64, 20, 1, false, "fp32", 3, 9, 32, 64, 16});
  check({40, 51, 300, 1, true, "fp32", 299, 50, 32, 64, 32});
}

} // namespace
