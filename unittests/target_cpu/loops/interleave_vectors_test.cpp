// SPDX-License-Identifier: Apache-2.0
// cpu-interleave-vectors: which loops compute their vectors side by side, and that sums stay what
// they were, against a sequential computation in plain C++.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

LoweredKernel lower(const std::string &type, const std::string &body,
                    const std::string &architecture = "x86-64-v4") {
  return lowerSource("\n@triton.jit\ndef kernel(out, x, n, BLOCK: tl.constexpr):\n"
                     "    o = tl.arange(0, BLOCK)\n"
                     "    a = tl.load(x + o, mask=o < n, other=-float('inf')).to(tl.float32)\n" +
                         body,
                     "*fp32, *" + type + ", i32, 4096", architecture);
}

/// All exponentials of an iteration scale at its end: the scaling follows another one at once.
bool isInterleaved(const std::string &type, const std::string &body) {
  LoweredKernel kernel = lower(type, body);
  EXPECT_EQ(kernel.error, "");
  const std::string &text = kernel.assembly;
  for (size_t at = text.find("vscalefps"); at != std::string::npos;
       at = text.find("vscalefps", at + 1)) {
    const size_t next = text.find('\n', at);
    if (text.find("vscalefps", next) == text.find_first_not_of("\n\t ", next)) {
      return true;
    }
  }
  return false;
}

const std::string sum = "    tl.store(out, tl.sum(tl.exp(a), axis=0))\n";

TEST(InterleaveVectors, ChainsThatArithmeticBinds) {
  EXPECT_TRUE(isInterleaved("bf16", sum));
  EXPECT_FALSE(isInterleaved("fp32", sum));
  EXPECT_FALSE(isInterleaved("bf16", "    e = tl.exp(a)\n"
                                     "    tl.store(out + o, e / tl.sum(e, axis=0), mask=o < n)\n"));
}

TEST(InterleaveVectors, SumsOfEveryLength) {
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lower("bf16", sum, architecture);
    ASSERT_EQ(kernel.error, "");
    for (int64_t n : {0, 1, 63, 64, 65, 128, 1000, 4095, 4096}) {
      std::vector<uint16_t> x(4096, 0x7f80); // infinity behind the end
      double expected = 0;
      for (int64_t i = 0; i < n; ++i) {
        const float value = static_cast<float>(i * 29 % 127 - 100) / 8; // seven bits
        uint32_t bits = 0;
        std::memcpy(&bits, &value, 4);
        ASSERT_EQ(bits & 0xffff, 0u);
        x[i] = static_cast<uint16_t>(bits >> 16);
        expected += std::exp(static_cast<double>(value));
      }
      float out = -1;
      ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&out), address(x.data()), number(n)}));
      EXPECT_NEAR(out, expected, 1e-6 * expected) << n << " elements on " << architecture;
    }
  }
}

} // namespace
