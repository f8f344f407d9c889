// SPDX-License-Identifier: Apache-2.0
// Stores that bypass the caches in launches that write more than the caches hold: the results, in
// launches at both sides of the limit. Which stores do is in test/targets/cpu/non_temporal.test.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

/// One step of the lane loop is a whole row, whose mask lies in scratch: its address is computed
/// outside of the branches that choose between the two kinds of stores.
TEST(NonTemporal, RowsOfOneStepFindTheirMaskInBothBranches) {
  const char *source = R"(
@triton.jit
def kernel(x, y, counts, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    p = i[:, None] * B + tl.arange(0, B)[None, :]
    v = tl.load(x + p)
    same = v == tl.load(y + i)[:, None]
    count = tl.sum(same.to(tl.int32), axis=1)
    tl.store(counts + i, count)
    tl.store(out + p, v + count[:, None], mask=same)
)";
  runtime::Tensor x = randomTensor({64, 32}, DType::I32, 1), y = randomTensor({64}, DType::I32, 2);
  runtime::Tensor counts = randomTensor({64}, DType::I32, 3);
  runtime::Tensor out = randomTensor({64, 32}, DType::I32, 4);
  EXPECT_EQ(compareWithOracle(source, "*i32:16, *i32:16, *i32:16, *i32:16, 32", {2, 1, 1},
                              {&x, &y, &counts, &out}),
            "");
}

/// 32 MiB are 32768 programs of 1 KiB; their results end where aligned stores cannot begin.
TEST(NonTemporal, LargeAndSmallLaunchesGiveTheSame) {
  LoweredKernel kernel = lowerBody("    tl.store(out + o, tl.load(x + o % 512) * 2, mask=o < n)\n",
                                   "*fp32, *fp32, i32, 256");
  ASSERT_EQ(kernel.error, "");
  for (int32_t programs : {3, 32767, 32768}) {
    for (int64_t shift : {0, 1, 16}) {
      std::vector<float> x(512), out(static_cast<size_t>(programs) * 256 + 64, -1.0f);
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(i);
      }
      const int64_t n = int64_t{programs} * 256 - 5;
      ASSERT_TRUE(kernel.launch({programs, 1, 1},
                                {address(x.data()), address(out.data() + shift), number(n)}));
      size_t wrong = 0;
      for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
        int64_t at = i - shift;
        wrong += out[i] != (at >= 0 && at < n ? static_cast<float>(at % 512 * 2) : -1.0f);
      }
      EXPECT_EQ(wrong, 0u) << programs << " programs, shifted by " << shift;
    }
  }
}

/// 32 MiB are 2048 programs that walk 16 blocks of 1 KiB; 2047 of them end in another loop's body.
TEST(NonTemporal, BlocksOfALoopCountWithTheirNumber) {
  LoweredKernel kernel = lowerBody("    o = tl.program_id(0) * n + tl.arange(0, BLOCK)\n"
                                   "    for at in range(0, n, BLOCK):\n"
                                   "        tl.store(out + o + at, tl.load(x + at % 512) * 2)\n",
                                   "*fp32, *fp32, i32, 256");
  ASSERT_EQ(kernel.error, "");
  for (int32_t programs : {2, 2047, 2048}) {
    const int64_t n = 16 * 256;
    std::vector<float> x(512), out(static_cast<size_t>(programs * n), -1.0f);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i);
    }
    ASSERT_TRUE(
        kernel.launch({programs, 1, 1}, {address(x.data()), address(out.data()), number(n)}));
    size_t wrong = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      wrong += out[i] != static_cast<float>(i / 256 % 2 * 256 * 2);
    }
    EXPECT_EQ(wrong, 0u) << programs << " programs";
  }
}

} // namespace
