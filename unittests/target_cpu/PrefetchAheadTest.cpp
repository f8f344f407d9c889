// SPDX-License-Identifier: Apache-2.0
// Where reads run a page ahead: beside stores that bypass the caches, once for each line, and not
// in loops whose next turn reads elsewhere.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

/// Not those of the next row.
size_t prefetches(const std::string &body, const std::string &signature) {
  return countOf(lowerBody(body, signature).loops, "[4096]");
}

TEST(PrefetchAhead, OncePerLineBesideStreamingStores) {
  // Vectors of 32 bytes, twice or four times in a body: every second one begins a line.
  const LoweredKernel kernel =
      lowerBody("    tl.store(out + o, tl.load(x + o, mask=o < n) + 1, mask=o < n)\n",
                "*fp32, *fp32, i32, 1024");
  const size_t found = countOf(kernel.loops, "llvm.intr.prefetch");
  EXPECT_GE(found, 1u) << kernel.loops;
  EXPECT_EQ(2 * found, countOf(kernel.loops, "!llvm.ptr -> vector<8xf32>")) << kernel.loops;
  EXPECT_NE(kernel.loops.find("[4096]"), std::string::npos) << kernel.loops;
}

TEST(PrefetchAhead, NotWhereStoresStayInTheCaches) {
  const char *types = "*fp32, *fp32, i32, 1024";
  EXPECT_EQ(prefetches("    tl.store(x + o, tl.load(x + o) + 1)\n", types), 0u);
  EXPECT_EQ(prefetches("    tl.store(out + o, tl.load(x + o), cache_modifier=\".cg\")\n", types),
            0u);
}

TEST(PrefetchAhead, NotWhereTheNextProgramReadsElsewhere) {
  const char *types = "*fp32, *fp32, i32, 1024";
  const std::string cols = "    c = tl.arange(0, BLOCK)\n", store = "    tl.store(out + o, v)\n";
  EXPECT_NE(prefetches(cols + "    v = tl.load(x + tl.program_id(0) * n + c)\n" + store, types),
            0u);
  EXPECT_EQ(prefetches(cols + "    v = tl.load(x + tl.program_id(1) * n + c)\n" + store, types),
            0u);
  EXPECT_EQ(prefetches(cols + "    v = tl.load(x + n + c)\n" + store, types), 0u);
}

TEST(PrefetchAhead, NotForRowsByNumber) {
  const LoweredKernel kernel =
      lowerSource("\n@triton.jit\ndef kernel(index, x, out, BLOCK: tl.constexpr):\n"
                  "    c = tl.arange(0, BLOCK)\n    row = tl.program_id(0)\n"
                  "    v = tl.load(x + tl.load(index + row) * BLOCK + c)\n"
                  "    tl.store(out + row * BLOCK + c, v)\n",
                  "*i32, *fp32, *fp32, 1024", "x86-64-v3");
  EXPECT_NE(kernel.loops.find("nontemporal"), std::string::npos);
  EXPECT_EQ(kernel.loops.find("llvm.intr.prefetch"), std::string::npos) << kernel.loops;
}

TEST(PrefetchAhead, NotInLoops) {
  EXPECT_EQ(prefetches("    for i in range(n):\n"
                       "        tl.store(out + o + i * 65536, tl.load(x + o + i * 65536) + 1)\n",
                       "*fp32, *fp32, i32, 1024"),
            0u);
}

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
