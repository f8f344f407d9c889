// SPDX-License-Identifier: Apache-2.0
// Order statistics and tests against values worked out by hand or taken from published tables.
#include "lib/measure/statistics/Statistics.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace nereid::measure;

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(percentile({1, 2, 3, 4, 5}, 0.9), 4.6);
  EXPECT_DOUBLE_EQ(percentile({7}, 0.99), 7);
  EXPECT_DOUBLE_EQ(percentile({}, 0.5), 0);
}

TEST(Summarize, LeavesOutliersOutOfTheDeviation) {
  Summary summary = summarize({10, 10, 10, 10, 10, 10, 10, 100});
  EXPECT_EQ(summary.outliers, 1);
  EXPECT_DOUBLE_EQ(summary.median, 10);
  EXPECT_DOUBLE_EQ(summary.relativeDeviation, 0);
  EXPECT_DOUBLE_EQ(summary.maximum, 100);
}

TEST(Summarize, RelativeDeviationOfKnownSet) {
  Summary summary = summarize({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(summary.outliers, 1); // 9 lies above q3 + 1.5 IQR = 5.5 + 2.25
  // Without it: mean 31 / 7, sum of squared deviations 151 - 31 * 31 / 7, n - 1 = 6.
  EXPECT_NEAR(summary.mean, 31.0 / 7, 1e-12);
  EXPECT_NEAR(summary.deviation, std::sqrt((151 - 31 * 31 / 7.0) / 6), 1e-12);
  EXPECT_NEAR(summary.relativeDeviation, summary.deviation / summary.mean, 1e-12);
  Summary inner = summarize({4, 6});
  EXPECT_NEAR(inner.relativeDeviation, 1.4142135623730951 / 5, 1e-12);
  EXPECT_NEAR(summarize({-4, -6}).deviation, 1.4142135623730951, 1e-12);
}

TEST(MannWhitney, ExactTailOfSeparatedSets) {
  // All of the first below all of the second: U = 0, two-sided p = 2 / C(8, 4).
  MannWhitney result = mannWhitney({1, 2, 3, 4}, {5, 6, 7, 8});
  EXPECT_DOUBLE_EQ(result.u, 0);
  EXPECT_NEAR(result.pValue, 2.0 / 70, 1e-12);
}

TEST(MannWhitney, TableValue) {
  // For n = m = 5 the one-sided probability of U <= 2 is 4/252.
  MannWhitney result = mannWhitney({1, 2, 3, 5, 7}, {4, 6, 8, 9, 10});
  EXPECT_DOUBLE_EQ(result.u, 3);
  EXPECT_NEAR(result.pValue, 2 * 7.0 / 252, 1e-12);
}

TEST(MannWhitney, EqualSetsWithTiesAreNotDifferent) {
  MannWhitney result = mannWhitney({1, 1, 2, 2}, {1, 1, 2, 2});
  EXPECT_DOUBLE_EQ(result.u, 8);
  EXPECT_DOUBLE_EQ(result.pValue, 1);
}

TEST(RatioOfMedians, IntervalHoldsTheRatio) {
  RatioInterval interval = ratioOfMedians({2, 2.1, 1.9, 2, 2}, {1, 1.05, 0.95, 1, 1});
  EXPECT_DOUBLE_EQ(interval.ratio, 2);
  EXPECT_LE(interval.low, 2);
  EXPECT_GE(interval.high, 2);
  EXPECT_GT(interval.low, 1.5);
}

TEST(MedianRatio, ASlowSpellDoesNotMoveIt) {
  // The second half ran at half the speed; one spell ended between the two of a turn.
  EXPECT_DOUBLE_EQ(medianRatio({2, 2, 4, 4, 4}, {4, 4, 4, 8, 8, 99}), 0.5);
  EXPECT_DOUBLE_EQ(medianRatio({}, {1}), 0);
}

TEST(GeometricMean, ZeroCountsAsFailure) {
  EXPECT_DOUBLE_EQ(geometricMean({2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometricMean({2, 0}), 0);
}
