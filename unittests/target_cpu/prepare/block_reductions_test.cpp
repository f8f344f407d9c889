// SPDX-License-Identifier: Apache-2.0
// Accumulators of loops over blocks: which ones are reduced in the loop, and the results against a
// sequential computation in plain C++.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

const std::string head = "\n@triton.jit\ndef kernel(out, x, n, BLOCK: tl.constexpr):\n"
                         "    lanes = tl.arange(0, BLOCK)\n";

LoweredKernel lower(const std::string &body, const std::string &signature,
                    const std::string &architecture = "") {
  return lowerSource(head + body, signature, architecture);
}

std::string sumOf(const std::string &start, const std::string &update, const std::string &result,
                  const std::string &dtype = "float32") {
  return "    total = tl.full((BLOCK,), " + start + ", dtype=tl." + dtype +
         ")\n"
         "    for at in range(0, n, BLOCK):\n"
         "        v = tl.load(x + at + lanes, mask=at + lanes < n, other=0)\n"
         "        total = " +
         update + "\n    tl.store(out, " + result + ")\n";
}

uint64_t scratchOf(const std::string &body,
                   const std::string &signature = "*fp32, *fp32, i32, 512") {
  LoweredKernel kernel = lower(body, signature);
  EXPECT_EQ(kernel.error, "") << body;
  return kernel.scratchBytes;
}

TEST(BlockReductions, AccumulatorsThatAreOnlyReducedNeedNoScratch) {
  EXPECT_EQ(scratchOf(sumOf("0", "total + v", "tl.sum(total, axis=0)")), 0u);
  EXPECT_EQ(scratchOf(sumOf("0", "v * v + total", "tl.sum(total, axis=0)")), 0u);
  EXPECT_EQ(scratchOf(sumOf("2", "tl.maximum(total, v)", "tl.max(total, axis=0)")), 0u);
  EXPECT_EQ(scratchOf(sumOf("0", "total ^ v", "tl.xor_sum(total, axis=0)", "int32"),
                      "*i32, *i32, i32, 512"),
            0u);
}

/// Another start counts once per lane; another operation is no reduction of the same; a sum of
/// bfloat16 in one lane is more exact than one of all; few lanes are no work.
TEST(BlockReductions, OthersAreCarriedAsTheyAre) {
  const uint64_t tile = 512 * 4;
  EXPECT_EQ(scratchOf(sumOf("1", "total + v", "tl.sum(total, axis=0)")), tile);
  EXPECT_EQ(scratchOf(sumOf("0", "total + v", "tl.max(total, axis=0)")), tile);
  EXPECT_EQ(scratchOf(sumOf("0", "total * 0.5 + v", "tl.sum(total, axis=0)")), tile);
  EXPECT_EQ(scratchOf(sumOf("0", "v - total", "tl.sum(total, axis=0)")), tile);
  EXPECT_EQ(scratchOf(sumOf("0", "total + v", "tl.sum(total, axis=0) + tl.max(total, axis=0)")),
            tile);
  EXPECT_NE(scratchOf(sumOf("0", "total + v", "tl.sum(total, axis=0)", "bfloat16"),
                      "*bf16, *bf16, i32, 512"),
            0u);
  EXPECT_EQ(scratchOf(sumOf("0", "total + v", "tl.sum(total, axis=0)"), "*fp32, *fp32, i32, 64"),
            64u * 4);
}

/// Multiples of 1/8 below 2^24 of them add up exactly in any order.
TEST(BlockReductions, SumsAndMaximaOfEveryLength) {
  const std::string sum = sumOf("0", "total + v * v", "tl.sum(total, axis=0)");
  const std::string top = sumOf("-3.5", "tl.maximum(v, total)", "tl.max(total, axis=0)");
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel sums = lower(sum, "*fp32, *fp32, i32, 512", architecture);
    LoweredKernel tops = lower(top, "*fp32, *fp32, i32, 512", architecture);
    ASSERT_EQ(sums.error + tops.error, "");
    for (int64_t n : {0, 1, 17, 511, 512, 513, 1000, 2048, 5000}) {
      std::vector<float> x(static_cast<size_t>(n) + 64, 1e30f);
      float expectedSum = 0, expectedTop = n % 512 == 0 ? -3.5f : 0.0f; // masked elements are 0
      for (int64_t i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i * 37 % 29) / 8 - (n < 600 ? 9 : 2);
        expectedSum += x[i] * x[i];
        expectedTop = std::max(expectedTop, x[i]);
      }
      float result = -1;
      ASSERT_TRUE(sums.launch({1, 1, 1}, {address(&result), address(x.data()), number(n)}));
      EXPECT_EQ(result, expectedSum) << n << " elements on " << architecture;
      ASSERT_TRUE(tops.launch({1, 1, 1}, {address(&result), address(x.data()), number(n)}));
      EXPECT_EQ(result, expectedTop) << n << " elements on " << architecture;
    }
  }
}

TEST(BlockReductions, TheSignOfAnEmptySumIsThatOfItsStart) {
  for (const char *start : {"0.0", "-0.0"}) {
    LoweredKernel kernel =
        lower(sumOf(start, "total + v", "tl.sum(total, axis=0)"), "*fp32, *fp32, i32, 512");
    ASSERT_EQ(kernel.error, "");
    float result = -1, x = 0;
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&result), address(&x), number(0)}));
    EXPECT_EQ(result, 0.0f);
    EXPECT_EQ(std::signbit(result), start[0] == '-');
  }
}

/// One loop carries a sum that is only reduced beside one that is stored.
TEST(BlockReductions, BesideAnAccumulatorThatStays) {
  LoweredKernel kernel = lower(R"(
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    largest = tl.zeros((BLOCK,), dtype=tl.float32)
    for at in range(0, n, BLOCK):
        v = tl.load(x + at + lanes, mask=at + lanes < n, other=0)
        largest = tl.maximum(largest, v)
        total += v
    tl.store(out + lanes, largest + tl.sum(total, axis=0))
)",
                               "*fp32, *fp32, i32, 256");
  ASSERT_EQ(kernel.error, "");
  EXPECT_EQ(kernel.scratchBytes, 256u * 4);
  const int64_t n = 700;
  std::vector<float> x(n), out(256), expected(256, 0.0f);
  float total = 0;
  for (int64_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i * 31 % 23) - 5;
    total += x[i];
    expected[i % 256] = std::max(expected[i % 256], x[i]);
  }
  ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(out.data()), address(x.data()), number(n)}));
  for (size_t i = 0; i < 256; ++i) {
    ASSERT_EQ(out[i], expected[i] + total) << i;
  }
}

} // namespace
