// SPDX-License-Identifier: Apache-2.0
// Where a product's factors stand: transposed tiles that are read where they are, or transposed
// in registers, and sums that are a factor of their own product.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// The gradients of attention in short: a product's result is a factor as it is and transposed.
const char *bothWays = R"(
@triton.jit
def kernel(a, b, rows, columns, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[:, None]
    k = tl.arange(0, K)
    x = tl.load(a + i * K + k[None, :], mask=i < n, other=0.0)
    y = tl.load(b + j * K + k[None, :])
    product = tl.dot(x, tl.trans(y), input_precision="ieee")
    product = product * 0.25
    along = tl.dot(product.to(y.dtype), y, input_precision="ieee")
    across = tl.dot(tl.trans(product.to(x.dtype)), x, input_precision="ieee")
    tl.store(rows + i * K + k[None, :], along)
    tl.store(columns + j * K + k[None, :], across)
)";

struct Sizes {
  int64_t m, n, k;
};

void check(Sizes sizes, DType dtype, const std::string &type, double tolerance) {
  const auto [m, n, k] = sizes;
  const int64_t inside = m - 3;
  Tensor a = randomTensor({m, k}, dtype, 1), b = randomTensor({n, k}, dtype, 2);
  Tensor rows = Tensor::empty({m, k}, DType::F32), columns = Tensor::empty({n, k}, DType::F32);
  const std::string signature = "*" + type + ", *" + type + ", *fp32, *fp32, i32, " +
                                std::to_string(m) + ", " + std::to_string(n) + ", " +
                                std::to_string(k);
  std::vector<Tensor> results;
  ASSERT_EQ(compareWithOracle(bothWays, signature, {1, 1, 1}, {&a, &b, &rows, &columns, inside},
                              tolerance, &results),
            "");
  if (dtype != DType::F32) {
    return; // the products are rounded between
  }
  auto product = [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum += i < inside ? a.at(i * k + p) * b.at(j * k + p) : 0.0;
    }
    return sum / 4;
  };
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < inside; ++i) {
        sum += product(i, j) * a.at(i * k + p);
      }
      ASSERT_NEAR(results[3].at(j * k + p), sum, 1e-3) << j << " " << p;
    }
  }
}

TEST(DotOperands, AProductIsAFactorAsItIsAndTransposed) {
  check({16, 32, 16}, DType::F32, "fp32", 1e-4);
  check({32, 16, 64}, DType::F32, "fp32", 1e-4);
  check({64, 64, 16}, DType::F32, "fp32", 1e-4);
}

TEST(DotOperands, NarrowTypesAreReadTransposedToo) {
  check({32, 64, 32}, DType::F16, "fp16", 2e-2);
  check({16, 32, 64}, DType::BF16, "bf16", 1e-1);
}

TEST(DotOperands, OnlyTheSecondFactorIsTransposed) {
  const LoweredKernel kernel =
      lowerSource(bothWays, "*fp32, *fp32, *fp32, *fp32, i32, 128, 128, 64", "x86-64-v4");
  ASSERT_EQ(kernel.error, "");
  EXPECT_EQ(countOf(kernel.loops, "vector.shuffle"), 64u); // 4 stages of 16, for y alone
  EXPECT_EQ(countOf(kernel.loops, "gather"), 0u);
}

/// What nobody else keeps is loaded into rows, whichever of its dimensions is contiguous.
TEST(DotOperands, ATransposedLoadIsKeptAsItIsRead) {
  const char *source = R"(
@triton.jit
def kernel(a, b, c, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    tl.store(c + p, tl.dot(tl.trans(tl.load(a + p)), tl.load(b + p), input_precision="ieee"))
)";
  EXPECT_EQ(countOf(lowerSource(source, "*fp32, *fp32, *fp32, 64").loops, "gather"), 0u);
  Tensor a = randomTensor({64, 64}, DType::F32, 1), b = randomTensor({64, 64}, DType::F32, 2);
  Tensor c = Tensor::empty({64, 64}, DType::F32);
  EXPECT_EQ(compareWithOracle(source, "*fp32, *fp32, *fp32, 64", {1, 1, 1}, {&a, &b, &c}, 1e-4),
            "");
}

/// Two columns of vectors and eight rows where the second factor is larger than a first-level
/// cache, four and four where it is not.
TEST(DotOperands, LargeSecondFactorsAreWalkedInNarrowPanels) {
  const char *source = R"(
@triton.jit
def kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    x = tl.load(a + i * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] * N + j)
    tl.store(c + i * N + j, tl.dot(x, y, input_precision="ieee"))
)";
  for (auto [depth, rows] : {std::pair<int64_t, size_t>{64, 4}, {128, 8}}) {
    const std::string signature = "*fp32, *fp32, *fp32, 32, 128, " + std::to_string(depth);
    const LoweredKernel kernel = lowerSource(source, signature, "x86-64-v4");
    ASSERT_EQ(kernel.error, "");
    // A row's element for each row of the block, and the zero each of 16 sums starts from.
    EXPECT_EQ(countOf(kernel.loops, "vector.broadcast"), rows + 16) << depth;
    EXPECT_EQ(countOf(kernel.loops, "math.fma"), 16u) << depth;
    Tensor a = randomTensor({32, depth}, DType::F32, 1);
    Tensor b = randomTensor({depth, 128}, DType::F32, 2);
    Tensor c = Tensor::empty({32, 128}, DType::F32);
    EXPECT_EQ(compareWithOracle(source, signature, {1, 1, 1}, {&a, &b, &c}, 1e-4), "");
  }
}

/// A carried sum is overwritten block by block, and must not be where it is also a factor.
TEST(DotOperands, ASumMayBeAFactorOfItself) {
  for (const char *product : {"tl.dot(acc, y, acc, input_precision='ieee')",
                              "tl.dot(y, acc, acc, input_precision='ieee')",
                              "tl.dot(tl.trans(acc), y, acc, input_precision='ieee')",
                              "tl.dot(y, tl.trans(acc), acc, input_precision='ieee')"}) {
    const std::string source = std::string(R"(
@triton.jit
def kernel(a, b, out, n, S: tl.constexpr):
    r = tl.arange(0, S)
    p = r[:, None] * S + r[None, :]
    acc = tl.load(a + p)
    y = tl.load(b + p)
    for i in range(0, n):
        acc = )") + product + "\n    tl.store(out + p, acc)\n";
    for (int64_t size : {16, 128}) {
      Tensor a = randomTensor({size, size}, DType::F32, 1);
      Tensor b = randomTensor({size, size}, DType::F32, 2);
      Tensor out = Tensor::empty({size, size}, DType::F32);
      // Sums as large as the elements they are made of, so that rounding stays small.
      for (int64_t i = 0; i < size * size; ++i) {
        b.set(i, b.at(i) / 16);
      }
      EXPECT_EQ(compareWithOracle(source, "*fp32, *fp32, *fp32, i32, " + std::to_string(size),
                                  {1, 1, 1}, {&a, &b, &out, int64_t{2}}, 1e-4),
                "")
          << product << " " << size;
    }
  }
}

} // namespace
