// SPDX-License-Identifier: Apache-2.0
// Masks of sums that a constant takes beyond the end of int32 within one tile: no intervals.
#include "unittests/target_cpu/LowerHarness.h"

#include "runtime/tensor/Tensor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// What differs from the interpreter for `body`, which may use rows r, columns c and the scalar s.
std::string differenceOf(const std::string &body, int64_t s) {
  const std::string source = fmt::format(R"(
@triton.jit
def kernel(x, out, s):
    r = tl.arange(0, 8)[:, None]
    c = tl.arange(0, 64)[None, :]
    {}
    tl.store(out + r * 64 + c, v)
)",
                                         body);
  Tensor x = randomTensor({8 * 64}, DType::F32, 1), out = randomTensor({8 * 64}, DType::F32, 2);
  return compareWithOracle(source, "*fp32, *fp32, i32", {1, 1, 1}, {&x, &out, s}, 0);
}

TEST(WrappedMasks, MasksOfLoads) {
  for (const char *mask :
       {"c + 2147483600 > s", "s <= c + 2147483600", "c + 2147483600 < s", "s > 2147483600 + c",
        "(c + 2147483000) + 600 > s", "(c + 2147483600).to(tl.int64) > s",
        "(r * 16 + c) + 2147483600 > s", "r * 16 + 2147483600 > s", "r + 2147483644 < s",
        "(c + 2147483600 > s) & (r < 5)"}) {
    std::string body =
        fmt::format("v = tl.load(x + r * 64 + c, mask=({}) & (r >= 0), other=-1.0)", mask);
    EXPECT_EQ(differenceOf(body, 2147483640), "") << mask;
  }
}

TEST(WrappedMasks, ChoicesAndStores) {
  EXPECT_EQ(differenceOf("v = tl.where(c + 2147483600 > s, r * 2.0 + c, 1.0)", 2147483640), "");
  EXPECT_EQ(differenceOf("v = r + c * 1.0\n"
                         "    tl.store(x + r * 64 + c, v, mask=c + 2147483600 > s)",
                         2147483640),
            "");
}

TEST(WrappedMasks, SumsOfALoop) {
  EXPECT_EQ(differenceOf("v = tl.zeros((8, 64), tl.float32)\n"
                         "    for i in range(2147483500, 2147483620, 20):\n"
                         "        v += tl.load(x + r * 64 + c, mask=c + i < s, other=-1.0)",
                         2147483640),
            "");
  EXPECT_EQ(differenceOf("v = tl.zeros((8, 64), tl.float32)\n"
                         "    at = c + 2147483500\n"
                         "    for i in range(6):\n"
                         "        v += tl.load(x + r * 64 + c, mask=at < s, other=-1.0)\n"
                         "        at += 20",
                         2147483640),
            "");
}

TEST(WrappedMasks, RemaindersAndQuotients) {
  for (const char *index :
       {"((c + 2147483600) % s + s) % s", "((c + 2147483600) % 8 + 8) % 8",
        "(c + 2147483600) // 1000000000 + 3", "((r * 3 + c + 2147483600) & 63)"}) {
    EXPECT_EQ(differenceOf(fmt::format("v = tl.load(x + {} + r)", index), 37), "") << index;
  }
}

TEST(WrappedMasks, ProductsOfMaskedColumns) {
  EXPECT_EQ(differenceOf("k = tl.arange(0, 16)\n"
                         "    rows = tl.arange(0, 16)[:, None]\n"
                         "    a = tl.load(x + rows * 16 + k[None, :],\n"
                         "                mask=k[None, :] + 2147483640 > s, other=0.0)\n"
                         "    b = tl.load(x + k[:, None] * 16 + tl.arange(0, 16)[None, :])\n"
                         "    d = tl.dot(a, b, input_precision='ieee')\n"
                         "    v = c * 0.0 + r + tl.sum(tl.where(d > 0, 1.0, 0.0))",
                         2147483642),
            "");
}

/// What no constant pushes to the end is an interval as before.
TEST(WrappedMasks, OrdinaryMasksStayIntervals) {
  auto partsOf = [](const std::string &mask) {
    LoweredKernel kernel =
        lowerBody("    v = tl.load(x + o, mask=" + mask +
                      ", other=0.0)\n    tl.store(out + o, v, mask=" + mask + ")\n",
                  "*fp32, *fp32, i32, 1024");
    EXPECT_EQ(kernel.error, "");
    return countOf(kernel.loops, "scf.for");
  };
  const size_t interval = partsOf("o < n");
  EXPECT_GT(interval, 1u);
  EXPECT_EQ(partsOf("o + 1000000 < n"), interval);
  EXPECT_LT(partsOf("o + 2147483000 < n"), interval);
}

} // namespace
