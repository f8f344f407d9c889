// SPDX-License-Identifier: Apache-2.0
// Reads that run a page ahead, behind the end of a tensor too. Which do is in
// test/targets/cpu/prefetch_ahead.mlir.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

TEST(PrefetchAhead, BehindTheEndOfATensorIsNoFault) {
  // 32 MiB of which the last page ends where the memory ends.
  const std::string source = "\n@triton.jit\ndef kernel(x, out, n, BLOCK: tl.constexpr):\n"
                             "    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                             "    tl.store(out + o, tl.load(x + o, mask=o < n) * 2, mask=o < n)\n";
  const int64_t n = (int64_t{32} << 20) / 4 + 7;
  const auto programs = static_cast<int32_t>((n + 1023) / 1024);
  std::vector<float> x(static_cast<size_t>(n)), out(static_cast<size_t>(n) + 1, -1.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 1000);
  }
  LoweredKernel kernel = lowerSource(source, "*fp32, *fp32, i32, 1024", "");
  ASSERT_EQ(kernel.error, "");
  ASSERT_TRUE(kernel.launch({programs, 1, 1},
                            {reinterpret_cast<uint64_t>(x.data()),
                             reinterpret_cast<uint64_t>(out.data()), static_cast<uint64_t>(n)}));
  size_t wrong = out.back() != -1.0f;
  for (size_t i = 0; i < x.size(); ++i) {
    wrong += out[i] != 2 * x[i];
  }
  EXPECT_EQ(wrong, 0u);
}

} // namespace
