// SPDX-License-Identifier: Apache-2.0
// Matrix products whose left rows are chosen one by one, as the pixels of an implicit convolution
// are: against the interpreter on every vector width, and against sums in double precision.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// Row i of the result is row 2 i - offset of a times b, or zero where that row does not exist or
/// `i % 5 == 3`; rows and depth end where M and K do.
const char *source = R"(
@triton.jit
def kernel(a, b, c, ROWS, M, N, K, offset, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for tap in range(2):
        row = rm // 1 * 2 - offset + tap * 3
        read = (rm < M) & (row >= 0) & (row < ROWS) & (rm % 5 != 3)
        pa = a + row[:, None] * K + rk[None, :]
        pb = b + (tap * K + rk)[:, None] * N + rn[None, :]
        for k in range(0, K, BK):
            inside = rk < K - k
            x = tl.load(pa, mask=read[:, None] & inside[None, :], other=0.0)
            y = tl.load(pb, mask=inside[:, None] & (rn < N)[None, :], other=0.0)
            acc = tl.dot(x, y, acc, input_precision="ieee")
            pa += BK
            pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
)";

struct Sizes {
  int64_t rows, m, n, k, offset;
  int blockM, blockN, blockK;
};

std::string signatureOf(const Sizes &s) {
  return fmt::format("a=*fp32, b=*fp32, c=*fp32, ROWS=i32, M=i32, N=i32, K=i32, offset=i32, "
                     "BM={}, BN={}, BK={}",
                     s.blockM, s.blockN, s.blockK);
}

double expected(const Sizes &s, const Tensor &a, const Tensor &b, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t tap = 0; tap < 2; ++tap) {
    int64_t row = 2 * i - s.offset + tap * 3;
    bool isRead = row >= 0 && row < s.rows && i % 5 != 3;
    for (int64_t k = 0; k < s.k && isRead; ++k) {
      sum += a.at(row * s.k + k) * b.at((tap * s.k + k) * s.n + j);
    }
  }
  return sum;
}

std::string run(const Sizes &s, const Tensor &a, const Tensor &b, Tensor &c) {
  Arguments arguments = {&a, &b, &c, s.rows, s.m, s.n, s.k, s.offset};
  std::array<int32_t, 3> grid{static_cast<int32_t>((s.m + s.blockM - 1) / s.blockM), 1, 1};
  std::vector<Tensor> results;
  std::string problem = compareWithOracle(source, signatureOf(s), grid, arguments,
                                          1e-6 * static_cast<double>(s.k + 10), &results);
  if (problem.empty()) {
    c = results[2];
  }
  return problem;
}

TEST(GemmRowMask, MaskedRowsAreZeroAndNeverRead) {
  for (const Sizes &s :
       {Sizes{60, 37, 51, 45, 7, 32, 64, 16}, Sizes{20, 64, 64, 64, 40, 32, 64, 32},
        Sizes{300, 130, 60, 300, 2, 128, 64, 32}, Sizes{3, 1, 1, 1, 0, 16, 16, 16},
        Sizes{5, 40, 128, 20, 1000, 16, 128, 16},
        // No row at all, and panels that miss vectors.
        Sizes{5, 40, 100, 20, 1000, 16, 128, 16}, Sizes{5, 40, 24, 150, 1000, 16, 64, 16},
        Sizes{20, 64, 10, 40, 40, 32, 64, 32}}) {
    // Nothing stands before and behind a: a row that is read all the same is NaN.
    Tensor space = Tensor::empty({s.rows + 4000, s.k}, DType::F32);
    space.poison();
    Tensor a = Tensor::borrow(space.as<float>() + 2000 * s.k, {s.rows, s.k}, DType::F32);
    runtime::fillNormal(a, 1);
    Tensor b = randomTensor({2 * s.k, s.n}, DType::F32, 2);
    Tensor c = randomTensor({s.m, s.n}, DType::F32, 3);
    ASSERT_EQ(run(s, a, b, c), "") << s.m << "x" << s.n << "x" << s.k;
    for (int64_t i = 0; i < s.m * s.n; ++i) {
      double value = expected(s, a, b, i / s.n, i % s.n);
      ASSERT_NEAR(c.at(i), value, 1e-5 * (static_cast<double>(s.k) + std::fabs(value))) << i;
    }
  }
}

TEST(GemmRowMask, ZeroTimesInfinityIsStillNoNumber) {
  Sizes s{60, 40, 64, 32, 7, 32, 64, 16};
  Tensor a = randomTensor({s.rows, s.k}, DType::F32, 1);
  Tensor b = randomTensor({2 * s.k, s.n}, DType::F32, 2);
  b.set(5 * s.n + 7, std::numeric_limits<double>::infinity());
  Tensor c = randomTensor({s.m, s.n}, DType::F32, 3);
  ASSERT_EQ(run(s, a, b, c), "");
  EXPECT_TRUE(std::isnan(c.at(3 * s.n + 7))); // row 3 is masked
  EXPECT_FALSE(std::isnan(c.at(3 * s.n + 8)));
}

TEST(GemmRowMask, RowsAreReadWhereTheyStand) {
  Sizes s{60, 40, 64, 32, 7, 32, 64, 16};
  LoweredKernel kernel = lowerSource(source, signatureOf(s), "x86-64-v4");
  ASSERT_EQ(kernel.error, "");
  // The addresses of chosen rows are listed; nothing of a is copied under a mask.
  EXPECT_NE(kernel.loops.find("llvm.x86.avx512.mask.compress"), std::string::npos) << kernel.loops;
}

} // namespace
