// SPDX-License-Identifier: Apache-2.0
// Matrix products whose right columns are neighbours in memory and chosen one by one, as the pixels
// of an implicit convolution over the ends of lines are: against the interpreter on every vector
// width, and against sums in double precision.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// c[i, j] = sum over taps and k of a[tap, i, k] b[k, j + tap - 1], without the b whose column lies
/// outside of j's line of WIDTH columns.
const char *source = R"(
@triton.jit
def kernel(a, b, c, WIDTH, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    column = rn - rn // WIDTH * WIDTH
    acc = tl.zeros((BM, BN), tl.float32)
    for tap in range(3):
        at = column + tap - 1
        read = (rn < N) & (at >= 0) & (at < WIDTH)
        pa = a + (tap * M + rm)[:, None] * K + rk[None, :]
        pb = b + rk[:, None] * N + (rn + tap - 1)[None, :]
        for k in range(0, K, BK):
            inside = rk < K - k
            x = tl.load(pa, mask=(rm < M)[:, None] & inside[None, :], other=0.0)
            y = tl.load(pb, mask=inside[:, None] & read[None, :], other=0.0)
            acc = tl.dot(x, y, acc, input_precision="ieee")
            pa += BK
            pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
)";

struct Sizes {
  int64_t width, m, n, k;
  int blockM, blockN, blockK;
};

std::string signatureOf(const Sizes &s) {
  return fmt::format("a=*fp32, b=*fp32, c=*fp32, WIDTH=i32, M=i32, N=i32, K=i32, BM={}, BN={}, "
                     "BK={}",
                     s.blockM, s.blockN, s.blockK);
}

double expected(const Sizes &s, const Tensor &a, const Tensor &b, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t tap = 0; tap < 3; ++tap) {
    int64_t at = j % s.width + tap - 1;
    for (int64_t k = 0; k < s.k && at >= 0 && at < s.width; ++k) {
      sum += a.at((tap * s.m + i) * s.k + k) * b.at(k * s.n + j + tap - 1);
    }
  }
  return sum;
}

TEST(GemmColumnMask, MaskedColumnsAreZeroAndNeverRead) {
  for (const Sizes &s : {Sizes{14, 40, 196, 70, 64, 64, 32}, Sizes{7, 16, 49, 16, 16, 128, 16},
                         Sizes{1, 9, 70, 33, 16, 64, 32}, Sizes{200, 64, 200, 64, 64, 64, 64},
                         Sizes{3, 5, 15, 300, 16, 16, 32}}) {
    // Nothing stands before and behind b: a column that is read all the same is NaN.
    Tensor space = Tensor::empty({s.k + 2, s.n}, DType::F32);
    space.poison();
    Tensor b = Tensor::borrow(space.as<float>() + s.n, {s.k, s.n}, DType::F32);
    runtime::fillNormal(b, 1);
    Tensor a = randomTensor({3 * s.m, s.k}, DType::F32, 2);
    Tensor c = randomTensor({s.m, s.n}, DType::F32, 3);
    Arguments arguments = {&a, &b, &c, s.width, s.m, s.n, s.k};
    std::array<int32_t, 3> grid{static_cast<int32_t>((s.n + s.blockN - 1) / s.blockN), 1, 1};
    std::vector<Tensor> results;
    ASSERT_EQ(compareWithOracle(source, signatureOf(s), grid, arguments,
                                1e-6 * static_cast<double>(s.k + 10), &results),
              "")
        << s.m << "x" << s.n << "x" << s.k;
    for (int64_t i = 0; i < s.m * s.n; ++i) {
      double value = expected(s, a, b, i / s.n, i % s.n);
      ASSERT_NEAR(results[2].at(i), value, 1e-5 * (static_cast<double>(s.k) + std::fabs(value)));
    }
  }
}

TEST(GemmColumnMask, ColumnsArePackedFromWhereTheyStand) {
  Sizes s{14, 64, 196, 64, 64, 64, 64};
  LoweredKernel kernel = lowerSource(source, signatureOf(s), "x86-64-v4");
  ASSERT_EQ(kernel.error, "");
  EXPECT_EQ(kernel.loops.find("gather"), std::string::npos) << kernel.loops;
  // One tile of sums that all taps share, a panel, and tables: no tile of b, no second tile of
  // sums.
  EXPECT_LT(kernel.scratchBytes, (64 + 8) * 64 * 4 + 128 * 64 * 4 + 8192U);
}

} // namespace
