// SPDX-License-Identifier: Apache-2.0
// Which launches are shared, by what they last: limits computed by hand. A cost is in sixteenths of
// a nanosecond.
#include "runtime/core/LaunchSharing.h"

#include "runtime/core/ItemParts.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid::runtime {
namespace {

constexpr int64_t nano = 16;

LaunchSharing plan(int64_t cost, int64_t programs, bool isAwake) {
  Streak streak;
  return shareLaunch(cost, programs, [=] { return isAwake; }, streak);
}

TEST(LaunchSharing, UnknownCostIsSharedProgramByProgram) {
  const LaunchSharing sharing = plan(0, 2, false);
  EXPECT_TRUE(sharing.isShared);
  EXPECT_FALSE(sharing.inParts);
  EXPECT_EQ(sharing.grain, 1);
}

TEST(LaunchSharing, DependsOnWhatTheLaunchLasts) {
  // 100 ns each: 1.9, 2, 7.9, 8, 99.9 and 100 µs.
  EXPECT_FALSE(plan(100 * nano, 19, true).isShared);
  EXPECT_TRUE(plan(100 * nano, 20, true).isShared);
  EXPECT_FALSE(plan(100 * nano, 79, false).isShared);
  EXPECT_TRUE(plan(100 * nano, 80, false).isShared);
  EXPECT_TRUE(plan(100 * nano, 999, false).inParts);
  EXPECT_FALSE(plan(100 * nano, 1000, false).inParts);
  EXPECT_EQ(plan(100 * nano, 1000, false).grain, 11) << "a microsecond at least";
}

TEST(LaunchSharing, MoreProgramsThanTheirTimeCanBeCounted) {
  EXPECT_TRUE(plan(int64_t{1} << 40, int64_t{1} << 62, false).isShared);
}

TEST(LaunchSharing, StreakOfSmallLaunchesWakesAWorkerOnce) {
  Streak streak;
  auto isShared = [&] {
    return shareLaunch(4000 * nano, 1, [] { return false; }, streak).isShared;
  };
  // Of 4 µs each: the fourth makes 16. A pause in between may break the streak, never make it.
  EXPECT_FALSE(isShared());
  EXPECT_FALSE(isShared());
  EXPECT_FALSE(isShared());
  bool wasShared = false;
  for (int i = 0; i < 1000 && !wasShared; ++i) {
    wasShared = isShared();
  }
  EXPECT_TRUE(wasShared);
  EXPECT_FALSE(isShared()) << "begins again";
}

TEST(LaunchSharing, EstimateFollowsSlowly) {
  EXPECT_EQ(estimateCost(0, 1000, 10), 1601);
  EXPECT_EQ(estimateCost(1601, 2000, 10), (1601 * 3 + 3201) / 4);
}

TEST(ItemParts, RangesOfAllWorkersCoverEveryItemOnce) {
  for (int count : {1, 2, 3, 7}) {
    for (int64_t items : {1, 2, 5, 64, 1000}) {
      std::vector<Part> parts(static_cast<size_t>(count));
      divide(items, parts.data(), count);
      std::vector<int> taken(static_cast<size_t>(items));
      int64_t begin = 0, end = 0;
      for (int worker = 0; takeRange(parts.data(), count, worker, 4, 2, begin, end);
           worker = (worker + 1) % 4) {
        ASSERT_LT(begin, end);
        for (int64_t i = begin; i < end; ++i) {
          ++taken[static_cast<size_t>(i)];
        }
      }
      EXPECT_EQ(taken, std::vector<int>(static_cast<size_t>(items), 1)) << count << ' ' << items;
    }
  }
}

TEST(ItemParts, WorkersBeginInPartsOfTheirOwn) {
  Part parts[2];
  divide(100, parts, 2);
  int64_t begin = 0, end = 0;
  ASSERT_TRUE(takeRange(parts, 2, 1, 2, 1, begin, end));
  EXPECT_EQ(begin, 50);
  EXPECT_EQ(end, 62) << "a quarter of the half";
  ASSERT_TRUE(takeRange(parts, 2, 0, 2, 1, begin, end));
  EXPECT_EQ(begin, 0);
}

} // namespace
} // namespace nereid::runtime
