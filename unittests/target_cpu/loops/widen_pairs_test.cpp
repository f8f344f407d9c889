// SPDX-License-Identifier: Apache-2.0
// cpu-widen-pairs: which loops over bfloat16 read even and odd lanes, and reductions of every
// length against a sequential computation in plain C++.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

const std::string head = R"(
@triton.jit
def kernel(out, x, y, w, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    a = tl.load(x + o).to(tl.float32)
    b = tl.load(y + o).to(tl.float32)
    c = tl.load(w + o)
)";
const std::string signature = "*fp32, *bf16, *bf16, *fp32, i32, 512";

/// Whole tiles have no masked end, where each vector is widened by itself.
bool isPaired(const std::string &body) {
  LoweredKernel kernel = lowerSource(head + body, signature, "x86-64-v4");
  EXPECT_EQ(kernel.error, "") << body;
  return countOf(kernel.assembly, "vpmovzxwd") == 0 && countOf(kernel.assembly, "vpslld") > 0;
}

TEST(WidenPairs, WhereTheOrderOfLanesDoesNotMatter) {
  EXPECT_TRUE(isPaired("    tl.store(out, tl.sum(a, axis=0))\n"));
  EXPECT_TRUE(isPaired("    tl.store(out, tl.max(a, axis=0))\n"));
  EXPECT_TRUE(isPaired("    tl.store(out, tl.sum(tl.exp(a - n), axis=0))\n"));
  EXPECT_TRUE(isPaired("    tl.store(out, tl.sum(a * b + 0.5, axis=0))\n"));
  EXPECT_TRUE(isPaired("    tl.store(out, tl.sum(tl.where(a > n, a, 2.0), axis=0))\n"));
}

/// What is stored, numbered, masked or combined with another type's lanes stays in order.
TEST(WidenPairs, NotWhereItDoes) {
  EXPECT_FALSE(isPaired("    tl.store(out + o, a)\n"));
  EXPECT_FALSE(isPaired("    tl.store(out + o, a)\n    tl.store(out, tl.sum(a, axis=0))\n"));
  EXPECT_FALSE(isPaired("    tl.store(out, tl.argmax(a, axis=0))\n"));
  EXPECT_FALSE(isPaired("    tl.store(out, tl.sum(a * o, axis=0))\n"));
  EXPECT_FALSE(isPaired("    tl.store(out, tl.sum(tl.where(o % 3 == 0, a, 0.0), axis=0))\n"));
  EXPECT_FALSE(isPaired("    tl.store(out, tl.sum(a * c, axis=0))\n"));
  // The second tensor's pairs begin one vector further.
  EXPECT_FALSE(
      isPaired("    tl.store(out, tl.sum(a * tl.load(x + (o ^ 16)).to(tl.float32), axis=0))\n"));
}

/// Neighbouring vectors that are scaled differently keep their own elements.
TEST(WidenPairs, NotWhereTheTwoVectorsAreComputedDifferently) {
  const std::string source = R"(
@triton.jit
def kernel(out, x, scales, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o).to(tl.float32)
    tl.store(out, tl.sum(v * tl.load(scales + o // 16), axis=0))
)";
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerSource(source, "*fp32, *bf16, *fp32, 128", architecture);
    ASSERT_EQ(kernel.error, "");
    const float scales[] = {1, 10, 100, 1000, 2, 20, 200, 2000};
    std::vector<uint16_t> x(128);
    float expected = 0, out = -1;
    for (size_t i = 0; i < x.size(); ++i) {
      const float value = static_cast<float>(i % 13);
      uint32_t bits = 0;
      std::memcpy(&bits, &value, 4);
      x[i] = static_cast<uint16_t>(bits >> 16);
      expected += value * scales[i / 16];
    }
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&out), address(x.data()), address(&scales[0])}));
    EXPECT_EQ(out, expected) << architecture;
  }
}

/// Both lanes of a column's sums go to different places.
TEST(WidenPairs, NotAlongTheOtherAxis) {
  const std::string source = R"(
@triton.jit
def kernel(out, x, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + tl.arange(0, 4)[:, None] * BLOCK + o[None, :]).to(tl.float32)
    tl.store(out + o, tl.sum(v, axis=0))
)";
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerSource(source, "*fp32, *bf16, 128", architecture);
    ASSERT_EQ(kernel.error, "");
    std::vector<uint16_t> x(4 * 128);
    std::vector<float> out(128), expected(128);
    for (size_t i = 0; i < x.size(); ++i) {
      const float value = static_cast<float>(i % 97);
      uint32_t bits = 0;
      std::memcpy(&bits, &value, 4);
      x[i] = static_cast<uint16_t>(bits >> 16);
      expected[i % 128] += value;
    }
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(out.data()), address(x.data())}));
    EXPECT_EQ(out, expected) << architecture;
  }
}

/// Whole numbers below 256 are bfloat16, and their products add up exactly in any order. The first
/// element's address is odd in words of four bytes.
TEST(WidenPairs, SumsAndMaximaOfEveryLength) {
  const std::string source = R"(
@triton.jit
def kernel(out, x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    a = tl.load(x + o, mask=o < n, other=-200.0).to(tl.float32)
    b = tl.load(y + o, mask=o < n, other=0.0).to(tl.float32)
    tl.store(out, tl.sum(a * b, axis=0))
    tl.store(out + 1, tl.max(a, axis=0))
)";
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerSource(source, "*fp32, *bf16, *bf16, i32, 1024", architecture);
    ASSERT_EQ(kernel.error, "");
    for (int64_t n : {0, 1, 15, 16, 17, 64, 127, 128, 129, 500, 1023, 1024}) {
      std::vector<uint16_t> x(1026), y(1026);
      float sum = 0, top = -200;
      for (int64_t i = 0; i < n; ++i) {
        const float a = static_cast<float>(i * 37 % 251) - 190 + static_cast<float>(n % 7),
                    b = static_cast<float>(i % 5) - 2;
        uint32_t bits[2];
        std::memcpy(&bits[0], &a, 4);
        std::memcpy(&bits[1], &b, 4);
        ASSERT_EQ((bits[0] | bits[1]) & 0xffff, 0u);
        x[i + 1] = static_cast<uint16_t>(bits[0] >> 16);
        y[i + 1] = static_cast<uint16_t>(bits[1] >> 16);
        sum += a * b;
        top = std::max(top, a);
      }
      float out[2] = {-1, -1};
      ASSERT_TRUE(kernel.launch(
          {1, 1, 1}, {address(&out[0]), address(x.data() + 1), address(y.data() + 1), number(n)}));
      EXPECT_EQ(out[0], sum) << n << " elements on " << architecture;
      EXPECT_EQ(out[1], top) << n << " elements on " << architecture;
    }
  }
}

} // namespace
