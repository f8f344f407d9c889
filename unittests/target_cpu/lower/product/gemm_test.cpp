// SPDX-License-Identifier: Apache-2.0
// Loops that are matrix products: ragged and wrapped tiles, every order of strides, operands that
// must be computed first, and loops that look alike but are none; on every vector width against
// the interpreter, the plain ones also against sums in double precision.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

struct Sizes {
  int64_t m, n, k;
  int blockM, blockN, blockK;
};

/// c[m, n] of row-major a and b, by the definition.
std::vector<double> product(const Tensor &a, const Tensor &b, const Sizes &s) {
  std::vector<double> c(s.m * s.n, 0);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t l = 0; l < s.k; ++l) {
      for (int64_t j = 0; j < s.n; ++j) {
        c[i * s.n + j] += a.at(i * s.k + l) * b.at(l * s.n + j);
      }
    }
  }
  return c;
}

/// A kernel on row-major matrices; `body` computes `acc` from what the prologue defines.
std::string matmul(const std::string &body,
                   const std::string &start = "tl.zeros((BM, BN), tl.float32)",
                   const std::string &parameters = "") {
  return R"(
@triton.jit
def kernel(a, b, c, M, N, K, sam, sak, sbk, sbn)" +
         parameters + R"(, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = )" +
         start + "\n" + body + R"(
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
)";
}

const char *maskedBody = R"(
    for k in range(0, K, BK):
        ks = k + rk
        x = tl.load(a + rm[:, None] * sam + ks[None, :] * sak,
                    mask=(rm[:, None] < M) & (ks[None, :] < K), other=0.0)
        y = tl.load(b + ks[:, None] * sbk + rn[None, :] * sbn,
                    mask=(ks[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y, input_precision="ieee")
)";

const char *wrappedBody = R"(
    pa = a + (rm % M)[:, None] * sam + rk[None, :] * sak
    pb = b + rk[:, None] * sbk + (rn % N)[None, :] * sbn
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
        pa += BK * sak
        pb += BK * sbk
)";

const std::string integers = ", M=i32, N=i32, K=i32, ";
const std::string rowMajor = "sam=i32, sak=1, sbk=i32, sbn=1";
const std::string anyStrides = "sam=i32, sak=i32, sbk=i32, sbn=i32";

/// Runs `source` over the whole of c on every architecture and compares.
std::string run(const std::string &source, const Sizes &s, const std::string &strides,
                const std::vector<int64_t> &strideValues, Tensor *result = nullptr,
                const std::string &types = "a=*fp32, b=*fp32, c=*fp32",
                const std::vector<const Tensor *> &tensors = {}) {
  Tensor a = randomTensor({s.m, s.k}, DType::F32, 1), b = randomTensor({s.k, s.n}, DType::F32, 2);
  Tensor c = randomTensor({s.m, s.n}, DType::F32, 3);
  Arguments arguments;
  if (tensors.empty()) {
    arguments = {&a, &b, &c};
  } else {
    arguments.assign(tensors.begin(), tensors.end());
  }
  for (int64_t number : {s.m, s.n, s.k}) {
    arguments.push_back(number);
  }
  for (int64_t number : strideValues) {
    arguments.push_back(number);
  }
  std::string signature = types + integers + strides +
                          fmt::format(", BM={}, BN={}, BK={}", s.blockM, s.blockN, s.blockK);
  std::array<int32_t, 3> grid{static_cast<int32_t>((s.m + s.blockM - 1) / s.blockM),
                              static_cast<int32_t>((s.n + s.blockN - 1) / s.blockN), 1};
  std::vector<Tensor> results;
  // Both sum in float32, in another order: sums that nearly cancel differ by more of their value.
  const double tolerance = 1e-6 * std::max<double>(10, static_cast<double>(s.k));
  std::string problem = compareWithOracle(source, signature, grid, arguments, tolerance, &results);
  if (result && problem.empty()) {
    *result = results[2];
  }
  return problem;
}

std::string runRowMajor(const std::string &source, const Sizes &s, Tensor *result = nullptr) {
  return run(source, s, rowMajor, {s.k, s.n}, result);
}

/// The lowered loops read the rows of an operand through a table of addresses.
bool isInPlace(const std::string &source, const std::string &signature) {
  LoweredKernel kernel = lowerSource(source, signature, "x86-64-v4");
  EXPECT_EQ(kernel.error, "");
  int addresses = 0;
  for (size_t at = 0; (at = kernel.loops.find("!llvm.ptr -> !llvm.ptr\n", at)) != std::string::npos;
       ++at) {
    ++addresses;
  }
  return addresses > 3; // those of the arguments
}

const std::vector<Sizes> ragged = {
    {37, 51, 45, 32, 64, 16},
    {64, 64, 64, 32, 32, 32},
    {1, 1, 1, 16, 16, 16},
    {130, 70, 300, 128, 64, 32},
    {9, 200, 129, 16, 128, 64},
    {127, 33, 40, 128, 32, 16},
    {20, 144, 256, 8, 128, 256},
    {5, 17, 33, 4, 16, 32},
    // a rest of k that the last block takes as well, and panels of one to three vectors
    {40, 104, 137, 32, 128, 32},
    {37, 90, 289, 32, 128, 32},
    {20, 150, 270, 32, 64, 16},
    {20, 86, 300, 32, 128, 16},
    {33, 177, 424, 32, 128, 32}};

TEST(Gemm, MaskedTilesOfManySizes) {
  for (const Sizes &s : ragged) {
    Tensor c = Tensor::empty({1}, DType::F32);
    ASSERT_EQ(runRowMajor(matmul(maskedBody), s, &c), "") << s.m << "x" << s.n << "x" << s.k;
    Tensor a = randomTensor({s.m, s.k}, DType::F32, 1), b = randomTensor({s.k, s.n}, DType::F32, 2);
    std::vector<double> expected = product(a, b, s);
    for (int64_t i = 0; i < s.m * s.n; ++i) {
      ASSERT_NEAR(c.at(i), expected[i], 2e-6 * s.k + 1e-6) << i;
    }
  }
}

TEST(Gemm, WrappedTilesOfManySizes) {
  for (const Sizes &s : ragged) {
    ASSERT_EQ(runRowMajor(matmul(wrappedBody), s), "") << s.m << "x" << s.n << "x" << s.k;
  }
}

TEST(Gemm, ColumnsWrapInTheMiddleOfATile) {
  std::string body = wrappedBody;
  body.replace(body.find("(rn % N)"), 8, "((rn + 7) % N)");
  for (const Sizes &s : ragged) {
    Tensor c = Tensor::empty({1}, DType::F32);
    ASSERT_EQ(runRowMajor(matmul(body), s, &c), "") << s.m << "x" << s.n << "x" << s.k;
    Tensor a = randomTensor({s.m, s.k}, DType::F32, 1), b = randomTensor({s.k, s.n}, DType::F32, 2);
    std::vector<double> expected = product(a, b, s);
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        ASSERT_NEAR(c.at(i * s.n + j), expected[i * s.n + (j + 7) % s.n], 2e-6 * s.k + 1e-6)
            << i << ", " << j;
      }
    }
  }
}

TEST(Gemm, EveryOrderOfStrides) {
  const Sizes s{45, 77, 70, 32, 64, 16};
  for (const char *body : {maskedBody, wrappedBody}) {
    // Column-major a, column-major b, both; then rows with a gap would leave the tensors.
    EXPECT_EQ(run(matmul(body), s, "sam=1, sak=i32, sbk=i32, sbn=1", {s.m, s.n}), "");
    EXPECT_EQ(run(matmul(body), s, "sam=i32, sak=1, sbk=1, sbn=i32", {s.k, s.k}), "");
    EXPECT_EQ(run(matmul(body), s, "sam=1, sak=i32, sbk=1, sbn=i32", {s.m, s.k}), "");
    EXPECT_EQ(run(matmul(body), s, anyStrides, {s.k, 1, s.n, 1}), "");
    EXPECT_EQ(run(matmul(body), s, anyStrides, {1, s.m, 1, s.k}), "");
  }
}

TEST(Gemm, TransposedTilesKeepTheirMeaning) {
  const char *body = R"(
    for k in range(0, K, BK):
        ks = k + rk
        x = tl.load(a + rm[None, :] + ks[:, None] * M,
                    mask=(rm[None, :] < M) & (ks[:, None] < K), other=0.0)
        y = tl.load(b + rn[:, None] * K + ks[None, :],
                    mask=(rn[:, None] < N) & (ks[None, :] < K), other=0.0)
        acc = tl.dot(tl.trans(x), tl.trans(y), acc)
)";
  EXPECT_EQ(runRowMajor(matmul(body), {45, 77, 70, 32, 64, 16}), "");
  EXPECT_EQ(runRowMajor(matmul(body), {64, 64, 64, 64, 64, 32}), "");
}

TEST(Gemm, OneOperandIsComputedFirst) {
  const Sizes s{45, 77, 70, 32, 64, 16};
  std::string body = maskedBody;
  for (const char *dot : {"tl.dot(x * 2 + 1, y)", "tl.dot(x, tl.where(y > 0, y, 0.5))",
                          "tl.dot(x, y.to(tl.float16).to(tl.float32))"}) {
    std::string changed = body.substr(0, body.find("tl.dot")) + dot + "\n";
    EXPECT_EQ(runRowMajor(matmul(changed), s), "") << dot;
  }
}

TEST(Gemm, TheSumStartsFromWhatIsThere) {
  const Sizes s{45, 77, 70, 32, 64, 16};
  EXPECT_EQ(runRowMajor(matmul(maskedBody, "tl.load(c + rm[:, None] * N + rn[None, :], "
                                           "mask=(rm[:, None] < M) & (rn[None, :] < N))"),
                        s),
            "");
  EXPECT_EQ(runRowMajor(matmul(wrappedBody, "tl.zeros((BM, BN), tl.float32) + rn[None, :]"), s),
            "");
  EXPECT_EQ(runRowMajor(matmul(maskedBody, "tl.full((BM, BN), 1.5, tl.float32)"), s), "");
}

TEST(Gemm, NoIterationLeavesTheStart) {
  const char *body = R"(
    for k in range(5, K - 100, BK):
        x = tl.load(a + rm[:, None] * sam + (k + rk)[None, :] * sak)
        y = tl.load(b + (k + rk)[:, None] * sbk + rn[None, :] * sbn)
        acc += tl.dot(x, y)
)";
  EXPECT_EQ(
      runRowMajor(matmul(body, "tl.full((BM, BN), 1.5, tl.float32)"), {32, 64, 16, 32, 64, 16}),
      "");
}

TEST(Gemm, MasksOfEveryForm) {
  const Sizes s{45, 77, 70, 32, 64, 16};
  for (const char *masks :
       {"mask=M > rm[:, None], other=0.0|mask=rn[None, :] <= N - 1, other=0.0",
        "mask=(ks <= K - 1)[None, :] & (M - 3 > rm[:, None]), other=0.0|"
        "mask=(K >= ks + 1)[:, None] & (rn < N - 5)[None, :], other=0.0",
        "mask=(ks[None, :] < K) & (rm[:, None] < M) & (M > 40), other=0.0|"
        "mask=(ks[:, None] < K) & (rn[None, :] < N) & (N < 40), other=0.0",
        "mask=(ks[None, :] < K) & (rm[:, None] % 3 < 2) & (rm[:, None] < M), other=0.0|"
        "mask=(ks[:, None] < K) & (rn[None, :] < N), other=0.0",
        "mask=(ks[None, :] < K) & (rm[:, None] < M), other=2.0|"
        "mask=(ks[:, None] < K) & (rn[None, :] < N), other=0.0"}) {
    std::string text = masks;
    size_t bar = text.find('|');
    // Whole tiles of k where a mask says nothing about it.
    Sizes sizes = s;
    sizes.k = text.find("ks") == std::string::npos ? 64 : s.k;
    std::string body = "\n    for k in range(0, K, BK):\n        ks = k + rk\n"
                       "        x = tl.load(a + rm[:, None] * sam + ks[None, :] * sak, " +
                       text.substr(0, bar) +
                       ")\n        y = tl.load(b + ks[:, None] * sbk + rn[None, :] * sbn, " +
                       text.substr(bar + 1) + ")\n        acc += tl.dot(x, y)\n";
    EXPECT_EQ(runRowMajor(matmul(body), sizes), "") << masks;
  }
}

TEST(Gemm, IterationsNeedNotFollowEachOther) {
  // Every second block of k, pointers that stand still, and a carried offset.
  const Sizes s{45, 77, 128, 32, 64, 16};
  const char *everySecond = R"(
    for k in range(0, K, 2 * BK):
        x = tl.load(a + rm[:, None] * sam + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        y = tl.load(b + (k + rk)[:, None] * sbk + rn[None, :], mask=rn[None, :] < N, other=0.0)
        acc += tl.dot(x, y)
)";
  const char *still = R"(
    for k in range(0, 5):
        x = tl.load(a + rm[:, None] * sam + rk[None, :], mask=rm[:, None] < M, other=0.0)
        y = tl.load(b + (k * BK + rk)[:, None] * sbk + rn[None, :], mask=rn[None, :] < N, other=0.0)
        acc += tl.dot(x, y)
)";
  const char *carried = R"(
    at = 3
    for k in range(0, tl.cdiv(K - 3, BK)):
        left = K - at
        x = tl.load(a + rm[:, None] * sam + (at + rk)[None, :],
                    mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
        y = tl.load(b + (at + rk)[:, None] * sbk + rn[None, :],
                    mask=(rn[None, :] < N) & (rk[:, None] < left), other=0.0)
        acc += tl.dot(x, y)
        at += BK
)";
  const char *scalarPointers = R"(
    pa = a
    pb = b
    for k in range(0, K // BK):
        x = tl.load(pa + rm[:, None] * sam + rk[None, :], mask=rm[:, None] < M, other=0.0)
        y = tl.load(pb + rk[:, None] * sbk + rn[None, :], mask=rn[None, :] < N, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * sbk
)";
  for (const char *body : {everySecond, still, carried, scalarPointers}) {
    EXPECT_EQ(runRowMajor(matmul(body), s), "") << body;
  }
}

TEST(Gemm, RowsFromAList) {
  const Sizes s{45, 77, 70, 32, 64, 16};
  Tensor a = randomTensor({s.m, s.k}, DType::F32, 1), b = randomTensor({s.k, s.n}, DType::F32, 2);
  Tensor c = randomTensor({s.m, s.n}, DType::F32, 3);
  Tensor order = Tensor::empty({s.m}, DType::I32);
  runtime::fillIntegers(order, 4, 0, s.m);
  const char *body = R"(
    rows = tl.load(order + rm, mask=rm < M, other=0)
    for k in range(0, K, BK):
        ks = k + rk
        x = tl.load(a + rows[:, None] * sam + ks[None, :], mask=ks[None, :] < K, other=0.0)
        y = tl.load(b + ks[:, None] * sbk + rn[None, :],
                    mask=(ks[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
)";
  std::string source = matmul(body);
  source.replace(source.find("a, b, c, M"), 10, "a, b, c, order, M");
  EXPECT_EQ(run(source, s, rowMajor, {s.k, s.n}, nullptr, "a=*fp32, b=*fp32, c=*fp32, order=*i32",
                {&a, &b, &c, &order}),
            "");
}

TEST(Gemm, BothOperandsAreComputedFirst) {
  const char *body = R"(
    for k in range(0, K, BK):
        ks = k + rk
        x = tl.load(a + rm[:, None] * sam + ks[None, :] * sak,
                    mask=(rm[:, None] < M) & (ks[None, :] < K), other=0.0)
        y = tl.load(b + ks[:, None] * sbk + rn[None, :] * sbn,
                    mask=(ks[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(tl.abs(x), y + 1)
)";
  for (const Sizes &s : {Sizes{45, 150, 300, 32, 128, 32}, Sizes{45, 77, 70, 32, 64, 128},
                         Sizes{20, 40, 300, 16, 32, 256}}) {
    EXPECT_EQ(runRowMajor(matmul(body), s), "");
  }
}

TEST(Gemm, HalfAndBfloat16Operands) {
  const Sizes s{45, 150, 300, 32, 128, 32};
  for (DType type : {DType::F16, DType::BF16}) {
    Tensor a = randomTensor({s.m, s.k}, type, 1), b = randomTensor({s.k, s.n}, type, 2);
    Tensor c = randomTensor({s.m, s.n}, DType::F32, 3);
    std::string name = type == DType::F16 ? "fp16" : "bf16";
    for (const char *body : {maskedBody, wrappedBody}) {
      EXPECT_EQ(run(matmul(body), s, rowMajor, {s.k, s.n}, nullptr,
                    "a=*" + name + ", b=*" + name + ", c=*fp32", {&a, &b, &c}),
                "");
    }
  }
}

TEST(Gemm, BlockPointersWithBoundsOnBothSides) {
  const char *source = R"(
@triton.jit
def kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, first, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + first
    column = tl.program_id(1) * BN + first
    A = tl.make_block_ptr(a, (M, K), (sam, sak), (row, first), (BM, BK), (1, 0))
    B = tl.make_block_ptr(b, (K, N), (sbk, sbn), (first, column), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(first, K, BK):
        x = tl.load(A, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(B, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(x, y)
        A = tl.advance(A, (0, BK))
        B = tl.advance(B, (BK, 0))
    C = tl.make_block_ptr(c, (M, N), (N, 1), (row, column), (BM, BN), (1, 0))
    tl.store(C, acc, boundary_check=(0, 1))
)";
  // A negative start cuts the first rows, columns and k off.
  for (int64_t first : {0, -3, 5}) {
    for (const Sizes &s : {Sizes{45, 77, 70, 32, 64, 16}, Sizes{40, 150, 300, 32, 128, 32}}) {
      EXPECT_EQ(run(source, s, rowMajor + ", first=i32", {s.k, s.n, first}), "") << first;
    }
  }
  EXPECT_TRUE(isInPlace(source, "a=*fp32, b=*fp32, c=*fp32" + integers + rowMajor +
                                    ", first=i32, BM=32, BN=64, BK=16"));
}

TEST(Gemm, MatricesOfABatch) {
  const char *source = R"(
@triton.jit
def kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    for batch in range(0, 3):
        acc = tl.zeros((BM, BN), tl.float32)
        pa = a + batch * M * K + rm[:, None] * sam + rk[None, :]
        pb = b + batch * K * N + rk[:, None] * sbk + rn[None, :]
        for k in range(0, K, BK):
            x = tl.load(pa, mask=(rm[:, None] < M) & (rk[None, :] < K - k), other=0.0)
            y = tl.load(pb, mask=(rn[None, :] < N) & (rk[:, None] < K - k), other=0.0)
            acc = tl.dot(x, y, acc)
            pa += BK
            pb += BK * sbk
        bias = tl.load(b + rn, mask=rn < N, other=0.0)
        tl.store(c + batch * M * N + rm[:, None] * N + rn[None, :], tl.maximum(acc + bias, 0.0),
                 mask=(rm[:, None] < M) & (rn[None, :] < N))
)";
  const Sizes s{37, 50, 70, 32, 64, 16};
  Tensor a = randomTensor({3, s.m, s.k}, DType::F32, 1),
         b = randomTensor({3, s.k, s.n}, DType::F32, 2);
  Tensor c = randomTensor({3, s.m, s.n}, DType::F32, 3);
  EXPECT_EQ(
      run(source, s, rowMajor, {s.k, s.n}, nullptr, "a=*fp32, b=*fp32, c=*fp32", {&a, &b, &c}), "");
}

TEST(Gemm, OtherLoopsStayWhatTheyAre) {
  const std::string types =
      "a=*fp32, b=*fp32, c=*fp32" + integers + rowMajor + ", BM=32, BN=64, BK=16";
  EXPECT_TRUE(isInPlace(matmul(maskedBody), types));
  EXPECT_TRUE(isInPlace(matmul(wrappedBody), types));
  std::string body = maskedBody;
  // The sum is read, scaled or written before the end; or the pointers are used behind the loop.
  for (const char *change : {"        acc = acc * 0.5\n", "        acc = tl.maximum(acc, 0.0)\n",
                             "        tl.store(c + rm, tl.sum(acc, 1), mask=rm < M)\n",
                             "        tl.debug_barrier()\n        tl.atomic_add(c, 1.0)\n"}) {
    std::string source = matmul(body + change);
    EXPECT_FALSE(isInPlace(source, types)) << change;
    EXPECT_EQ(runRowMajor(source, {32, 64, 70, 32, 64, 16}), "") << change;
  }
}

} // namespace
