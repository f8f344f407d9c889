// SPDX-License-Identifier: Apache-2.0
// Gathers of elements of 8 and 16 bits, which are gathers of the words that they are in: right at
// every place within a word, under masks, and at both ends of what may be read.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/mman.h>

using namespace nereid::cpu::test;

namespace {

/// Far from each other, and each within a word in turn.
constexpr const char *source = "@triton.jit\n"
                               "def kernel(x, at, y, n, BLOCK: tl.constexpr):\n"
                               "    i = tl.arange(0, BLOCK)\n"
                               "    j = tl.load(at + i)\n"
                               "    tl.store(y + i, tl.load(x + j, mask=i < n, other=7))\n";

template <class T> void expectGathered(const std::string &type) {
  constexpr size_t page = 4096;
  auto *pages =
      static_cast<char *>(mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
  auto *x = reinterpret_cast<T *>(pages + page); // all of the page, both ends
  constexpr int64_t count = page / sizeof(T);
  for (int64_t i = 0; i < count; ++i) {
    x[i] = static_cast<T>(i * 37 + 11);
  }
  std::vector<int32_t> at(64);
  for (size_t i = 0; i < at.size(); ++i) {
    at[i] = static_cast<int32_t>(i == 0 ? 0 : i == 1 ? count - 1 : (i * i * 131 + i) % count);
  }
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerSource(
        source, fmt::format("x=*{0}, at=*i32, y=*{0}, n=i32, BLOCK=64", type), architecture);
    ASSERT_EQ(kernel.error, "");
    for (int64_t n : {0, 1, 2, 31, 64}) {
      std::vector<T> y(64);
      ASSERT_TRUE(
          kernel.launch({1, 1, 1}, {address(x), address(at.data()), address(y.data()), number(n)}));
      for (int64_t i = 0; i < 64; ++i) {
        ASSERT_EQ(y[i], i < n ? x[at[i]] : T(7)) << type << " " << architecture << " " << i;
      }
    }
  }
  munmap(pages, 3 * page);
}

TEST(NarrowGather, ElementsAreTheirWordsBits) {
  expectGathered<uint16_t>("u16");
  expectGathered<int16_t>("i16");
  expectGathered<uint8_t>("u8");
  expectGathered<int8_t>("i8");
}

TEST(NarrowGather, TheyAreGathersOfWords) {
  for (const char *type : {"fp16", "bf16", "i16", "i8", "fp8e4nv"}) {
    LoweredKernel kernel = lowerSource(
        source, fmt::format("x=*{0}, at=*i32, y=*{0}, n=i32, BLOCK=64", type), "x86-64-v4");
    ASSERT_EQ(kernel.error, "");
    EXPECT_NE(kernel.loops.find("masked.gather"), std::string::npos) << type << kernel.loops;
    EXPECT_NE(kernel.loops.find("xi32>"), std::string::npos) << type;
  }
}

} // namespace
