// SPDX-License-Identifier: Apache-2.0
// Rows beside those of an earlier run: what seems slower is measured again before it is said.
#include "lib/bench/Against.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

Row rowOf(const std::string &name, double seconds) {
  Row row;
  row.caseName = name;
  for (int i = 0; i < 20; ++i) {
    row.kernel.samples.push_back(seconds * (1 + 1e-4 * i));
    row.yardstick.samples.push_back(1e-3 * (1 + 1e-4 * i));
  }
  row.yardstick.name = "clock";
  row.yardstickAmount = 1e7;
  for (measure::Timing *timing : {&row.kernel, &row.yardstick}) {
    measure::judgeSamples(*timing, measure::TimerOptions());
  }
  return row;
}

/// Case 'a' took 1 ms then and `now` seconds now, `again` when it is measured again.
measure::Verdict verdictOf(double now, double again, int &askedAgain) {
  const measure::ResultFile before = resultsNow("op", {recordedCase(rowOf("a", 1e-3), "float32")});
  auto judged = judgeAgainst(before, {recordedCase(rowOf("a", now), "float32")},
                             [&](const std::vector<std::string> &names) {
                               EXPECT_EQ(names, std::vector<std::string>{"a float32"});
                               ++askedAgain;
                               return std::vector{recordedCase(rowOf("a", again), "float32")};
                             });
  EXPECT_TRUE(bool(judged)) << judged.error().message;
  return judged->rows.front().verdict;
}

TEST(Against, WhatSeemsSlowerIsMeasuredAgain) {
  int asked = 0;
  EXPECT_EQ(verdictOf(1e-3, 2e-3, asked), measure::Verdict::NotToldApart);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(verdictOf(2e-3, 2e-3, asked), measure::Verdict::Slower);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(verdictOf(2e-3, 1e-3, asked), measure::Verdict::NotToldApart);
  EXPECT_EQ(verdictOf(0.5e-3, 1e-3, asked), measure::Verdict::Quicker);
  EXPECT_EQ(asked, 2);
}

TEST(Against, AFailureHasNoTimes) {
  Row row = rowOf("a", 1e-3);
  row.failure = "wrong";
  const measure::RecordedCase failed = recordedCase(row, "k.py:f");
  EXPECT_EQ(failed.name, "a k.py:f");
  EXPECT_FALSE(failed.isTimed());
  EXPECT_TRUE(failed.timing.samples.empty());
  row.failure.clear();
  EXPECT_TRUE(recordedCase(row, "k.py:f").isTimed());
}

TEST(Against, NoFileIsNoEarlierRunAndAMissingOneIsAnError) {
  auto all = [](const std::string &) { return true; };
  auto none = openEarlier("", "op", all);
  ASSERT_TRUE(bool(none));
  EXPECT_FALSE(*none);
  EXPECT_EQ(openEarlier("/absent.json", "op", all).error().code, "E0001");
}

} // namespace
} // namespace nereid::bench
