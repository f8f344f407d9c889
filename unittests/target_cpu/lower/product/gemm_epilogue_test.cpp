// SPDX-License-Identifier: Apache-2.0
// What follows a product runs on its register blocks: conversions, biases and activations at ragged
// edges, results that overwrite an operand, and stores that must stay behind the loop.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

struct Sizes {
  int64_t m, n, k;
  int blockM, blockN, blockK;
};

/// c = `epilogue` of a times b, all row-major; `epilogue` makes `out` of `acc`.
std::string product(const std::string &epilogue) {
  return R"(
@triton.jit
def kernel(a, b, c, d, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    inside = (rm[:, None] < M) & (rn[None, :] < N)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :],
                    mask=(rm[:, None] < M) & (k + rk < K)[None, :], other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :],
                    mask=(k + rk < K)[:, None] & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y, input_precision="ieee")
)" + epilogue;
}

std::string signatureOf(const Sizes &s, const char *type = "fp32") {
  return fmt::format("a=*fp32, b=*fp32, c=*{}, d=*fp32, M=i32, N=i32, K=i32, BM={}, BN={}, BK={}",
                     type, s.blockM, s.blockN, s.blockK);
}

std::array<int32_t, 3> gridOf(const Sizes &s) {
  return {static_cast<int32_t>((s.m + s.blockM - 1) / s.blockM),
          static_cast<int32_t>((s.n + s.blockN - 1) / s.blockN), 1};
}

std::string run(const std::string &epilogue, const Sizes &s, DType type = DType::F32,
                const char *typeName = "fp32", double tolerance = 1e-3) {
  Tensor a = randomTensor({s.m, s.k}, DType::F32, 1), b = randomTensor({s.k, s.n}, DType::F32, 2);
  Tensor c = randomTensor({s.m, s.n}, type, 3), d = randomTensor({s.m, s.n}, DType::F32, 4);
  return compareWithOracle(product(epilogue), signatureOf(s, typeName), gridOf(s),
                           {&a, &b, &c, &d, s.m, s.n, s.k}, tolerance);
}

/// No loop follows that of the product.
bool isStoredInLoop(const std::string &source, const Sizes &s) {
  LoweredKernel kernel = lowerSource(source, signatureOf(s), "x86-64-v4");
  EXPECT_EQ(kernel.error, "");
  return kernel.recognised.count("gemm-epilogue") != 0;
}

const char *plainStore = "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=inside)\n";

const std::vector<Sizes> sizes = {{37, 51, 45, 32, 64, 16},   {130, 70, 300, 128, 64, 32},
                                  {64, 128, 64, 32, 64, 32},  {9, 200, 129, 16, 128, 64},
                                  {20, 144, 256, 8, 128, 64}, {1, 1, 1, 16, 16, 16},
                                  {33, 65, 700, 32, 64, 32},  {21, 35, 40, 16, 32, 16}};

TEST(GemmEpilogue, SumsAndConversionsOfThem) {
  EXPECT_TRUE(isStoredInLoop(product(plainStore), sizes[0]));
  for (const Sizes &s : sizes) {
    EXPECT_EQ(run(plainStore, s), "") << s.m << "x" << s.n << "x" << s.k;
    EXPECT_EQ(run(plainStore, s, DType::BF16, "bf16", 1e-2), "");
    EXPECT_EQ(run("    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.int32), "
                  "mask=inside)\n",
                  s, DType::I32, "i32", 1),
              "");
  }
}

TEST(GemmEpilogue, BiasActivationAndWhatWasThere) {
  const std::string store = "    tl.store(c + rm[:, None] * N + rn[None, :], out, mask=inside)\n";
  for (const char *epilogue :
       {"    out = tl.maximum(acc + tl.load(d + rn, mask=rn < N, other=0.0)[None, :], 0.0)\n",
        "    out = 0.5 * acc * (1.0 + tl.erf(acc * 0.70710678))\n",
        "    out = acc + tl.load(c + rm[:, None] * N + rn[None, :], mask=inside)\n",
        "    out = acc * 0.5 + tl.load(d + rm[:, None] * N + rn[None, :], mask=inside)\n",
        "    out = acc * tl.load(d)\n", "    out = tl.where(rm[:, None] >= rn[None, :], acc, 7)\n",
        "    out = acc + rm[:, None] * 2 + rn[None, :]\n"}) {
    EXPECT_TRUE(isStoredInLoop(product(epilogue + store), sizes[0])) << epilogue;
    for (const Sizes &s : sizes) {
      EXPECT_EQ(run(epilogue + store, s), "") << epilogue << s.m << "x" << s.n << "x" << s.k;
    }
  }
}

TEST(GemmEpilogue, OtherMasksAndAddresses) {
  const Sizes s{64, 128, 40, 32, 64, 16};
  for (const char *store :
       {"    tl.store(c + rm[:, None] * N + rn[None, :], acc)\n",
        "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=rm[:, None] < 50)\n",
        "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=rn[None, :] < 50)\n",
        "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=rn[None, :] >= 70)\n",
        "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=acc > 0)\n",
        "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=tl.program_id(0) == 1)\n",
        "    tl.store(c + (M - 1 - rm)[:, None] * N + (N - 1 - rn)[None, :], acc, mask=inside)\n",
        "    tl.store(c + rn[None, :] * M + rm[:, None], acc, mask=inside)\n"}) {
    EXPECT_EQ(run(store, s), "") << store;
  }
}

TEST(GemmEpilogue, ColumnMajorResultsAreNotScattered) {
  const char *store = "    tl.store(c + rn[None, :] * M + rm[:, None], acc, mask=inside)\n";
  EXPECT_FALSE(isStoredInLoop(product(store), sizes[0]));
}

TEST(GemmEpilogue, WithoutIterationsThereIsStillAStore) {
  for (int64_t k : {0, -5}) {
    Sizes s{40, 70, 1, 32, 64, 16};
    Tensor a = randomTensor({s.m, 1}, DType::F32, 1), b = randomTensor({1, s.n}, DType::F32, 2);
    Tensor c = randomTensor({s.m, s.n}, DType::F32, 3), d = randomTensor({s.n}, DType::F32, 4);
    for (const char *out : {"acc", "acc + tl.load(d + rn, mask=rn < N)[None, :]"}) {
      EXPECT_EQ(compareWithOracle(
                    product(fmt::format(
                        "    tl.store(c + rm[:, None] * N + rn[None, :], {}, mask=inside)\n", out)),
                    signatureOf(s), gridOf(s), {&a, &b, &c, &d, s.m, s.n, k}),
                "")
          << out;
    }
  }
}

/// One program whose result overwrites one of its operands reads all of it first.
TEST(GemmEpilogue, AnOperandMayBeOverwritten) {
  const int64_t size = 128;
  const Sizes s{size, size, size, 128, 128, 32};
  const std::vector<int64_t> depths = {128, 150, 288}; // blocks of 128; the last takes a rest
  const char *activation =
      "    tl.store(c + rm[:, None] * N + rn[None, :], tl.maximum(acc, 1.0) * 2, mask=inside)\n";
  for (bool isPlain : {true, false}) {
    for (const std::string &architecture : runnableArchitectures()) {
      LoweredKernel kernel =
          lowerSource(product(isPlain ? plainStore : activation), signatureOf(s), architecture);
      ASSERT_EQ(kernel.error, "");
      for (size_t test = 0; test < 2 * depths.size(); ++test) {
        const size_t overwritten = test % 2;
        const int64_t depth = depths[test / 2];
        std::array<std::vector<float>, 2> operands;
        for (size_t which : {0, 1}) {
          for (int64_t i = 0; i < size * depth; ++i) {
            operands[which].push_back(static_cast<float>((i * 7 + i / size + which) % 5) - 2);
          }
        }
        const auto before = operands;
        std::vector<float> &c = operands[overwritten];
        ASSERT_TRUE(
            kernel.launch({1, 1, 1}, {address(operands[0].data()), address(operands[1].data()),
                                      address(c.data()), 0, size, size, number(depth)}));
        for (int64_t i = 0; i < size * size; ++i) {
          float sum = 0; // small whole numbers: exact
          for (int64_t k = 0; k < depth; ++k) {
            sum += before[0][i / size * depth + k] * before[1][k * size + i % size];
          }
          ASSERT_EQ(c[i], isPlain ? sum : std::max(sum, 1.0F) * 2)
              << architecture << " element " << i << " of operand " << overwritten;
        }
      }
    }
  }
}

TEST(GemmEpilogue, NothingIsReordered) {
  for (const char *epilogue :
       {// The last store wins.
        "    tl.store(c + rm[:, None] * N + rn[None, :], rm[:, None] + 0.5 * rn[None, :], "
        "mask=inside)\n"
        "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=inside)\n",
        // d is read before it is written.
        "    old = tl.load(d + rm[:, None] * N + rn[None, :], mask=inside)\n"
        "    tl.store(d + rm[:, None] * N + rn[None, :], acc, mask=inside)\n"
        "    tl.store(c + rm[:, None] * N + rn[None, :], old, mask=inside)\n",
        // c is read after it is written.
        "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=inside)\n"
        "    tl.store(d + rm[:, None] * N + rn[None, :], 1 + tl.load(c + rm[:, None] * N + "
        "rn[None, :], mask=inside), mask=inside)\n",
        // The sums are wanted twice, or as a whole.
        "    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=inside)\n"
        "    tl.store(d + rm[:, None] * N + rn[None, :], acc * 2, mask=inside)\n",
        "    out = acc - tl.max(acc, axis=1)[:, None]\n"
        "    tl.store(c + rm[:, None] * N + rn[None, :], out, mask=inside)\n"}) {
    EXPECT_EQ(run(epilogue, {40, 70, 50, 32, 64, 16}), "") << epilogue;
  }
  EXPECT_FALSE(isStoredInLoop(
      product("    tl.store(d + rm, rm * 1.0, mask=rm < M)\n" + std::string(plainStore)),
      sizes[0]));
}

/// Few columns: blocks of one vector go on behind a first block of other height, and the last one
/// reaches behind the tile. Its rows do not exist, whatever the store's mask says of them.
TEST(GemmEpilogue, RowsBehindTheTileAreNotStored) {
  for (const char *rows : {"rm[:, None] % 2 == 0", "rm[:, None] >= S", "(rm[:, None] * 0) == 0"}) {
    std::string source = fmt::format(R"(
@triton.jit
def kernel(a, b, c, K, S, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(K):
        x = tl.load(a + rm[:, None] * 256 + i * BK + rk[None, :])
        y = tl.load(b + (i * BK + rk)[:, None] * BN + rn[None, :])
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + rm[:, None] * BN + rn[None, :], acc, mask=({}) & (rn[None, :] < S * 2))
)",
                                     rows);
    for (auto [blockM, blockN, blockK] :
         {std::array{32, 64, 32}, {64, 64, 64}, {16, 128, 16}, {64, 32, 32}}) {
      Tensor a = randomTensor({64, 256}, DType::F32, 1),
             b = randomTensor({256, 128}, DType::F32, 2);
      Tensor c = randomTensor({blockM + 8, blockN}, DType::F32, 3);
      EXPECT_EQ(compareWithOracle(source,
                                  fmt::format("*fp32, *fp32, *fp32, i32, i32, {}, {}, {}", blockM,
                                              blockN, blockK),
                                  {1, 1, 1}, {&a, &b, &c, int64_t{3}, int64_t{7}}, 1e-3),
                "")
          << rows << ", " << blockM << "x" << blockN;
    }
  }
}

} // namespace
