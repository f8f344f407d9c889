// SPDX-License-Identifier: Apache-2.0
// Zero times infinity: where the mask of one operand leaves out what the other one has, the product
// of the two is no zero.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

struct Case {
  const char *name, *maskOfA, *maskOfB, *maskOfC;
};

const Case cases[] = {
    {"none", "rm[:, None] >= 0", "rn[None, :] >= 0", "rm[:, None] >= 0"},
    {"rows", "rm[:, None] < S", "rn[None, :] >= 0", "rm[:, None] >= 0"},
    {"more rows than are loaded", "rm[:, None] < S", "rn[None, :] >= 0", "rm[:, None] < S + 4"},
    {"the rows that are looked at", "rm[:, None] < S", "rn[None, :] < S",
     "(rm[:, None] < S) & (rn[None, :] < S)"},
    {"odd rows", "rm[:, None] % 2 == 1", "rn[None, :] >= 0", "rm[:, None] >= 0"},
    {"columns", "rm[:, None] >= 0", "rn[None, :] < S", "rm[:, None] >= 0"},
    {"odd columns", "rm[:, None] >= 0", "rn[None, :] % 2 == 1", "rm[:, None] >= 0"},
    {"k of a", "(i * BK + rk)[None, :] < K * BK - 5", "rn[None, :] >= 0", "rm[:, None] >= 0"},
    {"k of b", "rm[:, None] >= 0", "(i * BK + rk)[:, None] < K * BK - 5", "rm[:, None] >= 0"},
    {"k of both", "(i * BK + rk)[None, :] < K * BK - 5", "i * BK + rk[:, None] < K * BK - 5",
     "rm[:, None] >= 0"},
    {"k, differently", "(i * BK + rk)[None, :] < K * BK - 5", "i * BK + rk[:, None] < K * BK - 2",
     "rm[:, None] >= 0"},
    {"nothing", "(rm[:, None] >= 0) & (S > 10)", "rn[None, :] >= 0", "rm[:, None] >= 0"},
};

std::string sourceOf(const Case &masks) {
  return fmt::format(R"(
@triton.jit
def kernel(a, b, c, K, S, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(K):
        x = tl.load(a + rm[:, None] * 256 + i * BK + rk[None, :], mask={}, other=0.0)
        y = tl.load(b + (i * BK + rk)[:, None] * BN + rn[None, :], mask={}, other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + rm[:, None] * BN + rn[None, :], acc, mask={})
)",
                     masks.maskOfA, masks.maskOfB, masks.maskOfC);
}

TEST(GemmNonFinite, MaskedZerosAreMultiplied) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Case &masks : cases) {
    for (bool isInA : {false, true}) {
      for (bool isBehind : {false, true}) { // the end of the masks of k
        const auto [m, n, k] = isBehind ? std::array{16, 128, 16} : std::array{32, 64, 32};
        const int64_t place = isBehind ? 3 * k - 3 : 3;
        Tensor a = randomTensor({32, 256}, DType::F32, 1);
        Tensor b = randomTensor({256, n}, DType::F32, 2), c = randomTensor({m, n}, DType::F32, 3);
        isInA ? a.set(4 * 256 + place, infinity) : b.set(place * n + 5, infinity);
        EXPECT_EQ(
            compareWithOracle(sourceOf(masks),
                              fmt::format("*fp32, *fp32, *fp32, i32, i32, {}, {}, {}", m, n, k),
                              {1, 1, 1}, {&a, &b, &c, int64_t{3}, int64_t{7}}, 1e-3),
            "")
            << masks.name << ", " << m << "x" << n << ", infinity in " << (isInA ? "a" : "b")
            << " at " << place;
      }
    }
  }
}

} // namespace
