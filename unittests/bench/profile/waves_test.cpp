// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/profile/Waves.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

TEST(Waves, WholeOnesAndTheTail) {
  const Waves waves{.programs = 300, .places = 264};
  EXPECT_EQ(waves.whole(), 1);
  EXPECT_EQ(waves.tail(), 36);
  EXPECT_DOUBLE_EQ(waves.count(), 300.0 / 264);
  EXPECT_DOUBLE_EQ(waves.used(), 300.0 / 528);
  EXPECT_EQ(waves.without(), 264);
  EXPECT_EQ(waves.filled(), 528);
}

TEST(Waves, WithoutTail) {
  const Waves waves{.programs = 528, .places = 264};
  EXPECT_EQ(waves.tail(), 0);
  EXPECT_DOUBLE_EQ(waves.used(), 1);
  EXPECT_EQ(waves.without(), 528);
  EXPECT_EQ(waves.filled(), 528);
}

TEST(Waves, OfLessThanOne) {
  const Waves waves{.programs = 1, .places = 264};
  EXPECT_EQ(waves.whole(), 0);
  EXPECT_DOUBLE_EQ(waves.used(), 1.0 / 264);
  EXPECT_EQ(waves.without(), 0);
  EXPECT_EQ(waves.filled(), 264);
  EXPECT_DOUBLE_EQ((Waves{.programs = 0, .places = 264}).used(), 0);
}

/// The grids that are named have no tail, and no grid between them has none.
TEST(Waves, NamesTheNearestGridsWithoutTail) {
  for (int64_t places = 1; places < 20; ++places) {
    for (int64_t programs = 0; programs < 100; ++programs) {
      const Waves waves{programs, places};
      EXPECT_LE(waves.without(), programs);
      EXPECT_GE(waves.filled(), programs);
      EXPECT_EQ((Waves{waves.without(), places}.tail()), 0);
      EXPECT_EQ((Waves{waves.filled(), places}.tail()), 0);
      EXPECT_LE(waves.filled() - waves.without(), places);
    }
  }
}

} // namespace
} // namespace nereid::bench
