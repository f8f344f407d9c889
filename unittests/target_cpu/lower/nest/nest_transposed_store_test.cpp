// SPDX-License-Identifier: Apache-2.0
// Sums of a product that are stored with the neighbours of their columns side by side in memory:
// blocks are transposed in registers. Against the interpreter on every vector width, for tiles that
// masks cut on both sides, and against sums in double precision.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// c[j * PITCH + i] = max(sum of a[i, k] b[k, j] + rows[i] + columns[j * step], 0).
const char *source = R"(
@triton.jit
def kernel(a, b, rows, columns, c, M, N, K, PITCH, step, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        inside = rk + k < K
        x = tl.load(a + rm[:, None] * K + (rk + k)[None, :],
                    mask=(rm < M)[:, None] & inside[None, :], other=0.0)
        y = tl.load(b + (rk + k)[:, None] * N + rn[None, :],
                    mask=inside[:, None] & (rn < N)[None, :], other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    acc += tl.load(rows + rm, mask=rm < M, other=0.0)[:, None]
    acc += tl.load(columns + rn * step, mask=rn < N, other=0.0)[None, :]
    acc = tl.maximum(acc, 0.0)
    tl.store(c + rn[None, :] * PITCH + rm[:, None], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])
)";

struct Product {
  int64_t m, n, k, pitch, step;
  int blockM, blockN;
};

/// Without what depends on the row, which cannot be read along a row's columns.
std::string withoutRows() {
  std::string result = source;
  const size_t start = result.find("    acc += tl.load(rows");
  return result.erase(start, result.find('\n', start) + 1 - start);
}

std::string signatureOf(const Product &p) {
  return fmt::format("a=*fp32, b=*fp32, rows=*fp32, columns=*fp32, c=*fp32, M=i32, N=i32, K=i32, "
                     "PITCH=i32, step=i32, BM={}, BN={}, BK=16",
                     p.blockM, p.blockN);
}

void check(const Product &p, bool addsRows) {
  Tensor a = randomTensor({p.m, p.k}, DType::F32, 1);
  Tensor b = randomTensor({p.k, p.n}, DType::F32, 2);
  Tensor rows = randomTensor({p.m}, DType::F32, 3);
  Tensor columns = randomTensor({p.n * p.step}, DType::F32, 4);
  Tensor c = randomTensor({p.n, p.pitch}, DType::F32, 5);
  Arguments arguments = {&a, &b, &rows, &columns, &c, p.m, p.n, p.k, p.pitch, p.step};
  auto blocks = [](int64_t size, int64_t block) {
    return static_cast<int32_t>((size + block - 1) / block);
  };
  std::array<int32_t, 3> grid{blocks(p.m, p.blockM), blocks(p.n, p.blockN), 1};
  const double tolerance = 1e-6 * static_cast<double>(p.k + 10);
  std::vector<Tensor> results;
  ASSERT_EQ(compareWithOracle(addsRows ? std::string(source) : withoutRows(), signatureOf(p), grid,
                              arguments, tolerance, &results),
            "");
  for (int64_t j = 0; j < p.n; ++j) {
    for (int64_t i = 0; i < p.pitch; ++i) {
      if (i >= p.m) {
        ASSERT_EQ(results[4].at(j * p.pitch + i), c.at(j * p.pitch + i)) << "behind the rows";
        continue;
      }
      double sum = columns.at(j * p.step) + (addsRows ? rows.at(i) : 0.0);
      for (int64_t k = 0; k < p.k; ++k) {
        sum += a.at(i * p.k + k) * b.at(k * p.n + j);
      }
      ASSERT_NEAR(results[4].at(j * p.pitch + i), std::max(sum, 0.0), tolerance) << i << " " << j;
    }
  }
}

const Product products[] = {{64, 64, 32, 64, 1, 64, 64},   {37, 51, 45, 40, 1, 32, 64},
                            {130, 70, 20, 130, 3, 64, 32}, {1, 1, 1, 1, 1, 16, 16},
                            {48, 16, 7, 50, 2, 64, 16},    {20, 100, 33, 21, 1, 16, 64},
                            {100, 40, 16, 128, 2, 128, 8}};

TEST(NestTransposedStore, SumsAndWhatBelongsToColumns) {
  for (const Product &p : products) {
    check(p, false);
  }
}

TEST(NestTransposedStore, AlsoWhatBelongsToRows) {
  for (const Product &p : products) {
    check(p, true);
  }
}

TEST(NestTransposedStore, NothingIsScattered) {
  LoweredKernel kernel = lowerSource(withoutRows(), signatureOf(products[1]), "x86-64-v4");
  ASSERT_EQ(kernel.error, "");
  EXPECT_EQ(kernel.loops.find("scatter"), std::string::npos) << kernel.loops;
  EXPECT_NE(kernel.loops.find("vector.shuffle"), std::string::npos) << kernel.loops;
}

} // namespace
