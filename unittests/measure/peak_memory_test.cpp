// SPDX-License-Identifier: Apache-2.0
// Peak growth of the resident memory: pages touched and given back again count, those that are only
// reserved do not.
#include "lib/measure/PeakMemory.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

using nereid::measure::peakGrowth;

namespace {

constexpr size_t mebibyte = 1 << 20;

void mapAndTouch(size_t bytes, size_t touched) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  for (size_t i = 0; i < touched; i += 4096) {
    static_cast<volatile char *>(memory)[i] = 1;
  }
  munmap(memory, bytes);
}

} // namespace

TEST(PeakMemory, CountsWhatIsGivenBackAgain) {
  auto growth = peakGrowth([] { mapAndTouch(64 * mebibyte, 64 * mebibyte); });
  if (!growth) {
    GTEST_SKIP() << "this system does not let a process reset its high-water mark";
  }
  EXPECT_GE(*growth, 63 * mebibyte);
  EXPECT_LE(*growth, 68 * mebibyte);
}

TEST(PeakMemory, CountsTheSecondTimeToo) {
  mapAndTouch(64 * mebibyte, 64 * mebibyte);
  auto growth = peakGrowth([] { mapAndTouch(16 * mebibyte, 16 * mebibyte); });
  if (!growth) {
    GTEST_SKIP() << "this system does not let a process reset its high-water mark";
  }
  EXPECT_GE(*growth, 15 * mebibyte);
  EXPECT_LE(*growth, 20 * mebibyte);
}

TEST(PeakMemory, PagesNeverTouchedAreNotCounted) {
  auto growth = peakGrowth([] { mapAndTouch(256 * mebibyte, 0); });
  if (!growth) {
    GTEST_SKIP() << "this system does not let a process reset its high-water mark";
  }
  EXPECT_LE(*growth, 4 * mebibyte);
}
