// SPDX-License-Identifier: Apache-2.0
// The timer's rules, driven by a clock that the test moves.
#include "lib/measure/Timer.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace nereid::measure;

namespace {

struct FakeClock {
  double now = 0;
  TimerOptions options() {
    TimerOptions result;
    result.clock = [this] { return now; };
    result.secondsBudget = 1000;
    return result;
  }
};

} // namespace

TEST(Timer, SteadyVersionTakesTheMinimumOfSamples) {
  FakeClock clock;
  auto timings = timeInterleaved({{"a", [&] { clock.now += 0.5; }}}, clock.options());
  ASSERT_EQ(timings.size(), 1U);
  EXPECT_EQ(timings[0].summary.count, 20);
  EXPECT_NEAR(timings[0].summary.median, 0.5, 1e-9);
  EXPECT_FALSE(timings[0].isNoisy);
}

TEST(Timer, NoisyVersionTakesMoreSamplesAndIsFlagged) {
  FakeClock clock;
  int run = 0;
  auto timings =
      timeInterleaved({{"a", [&] { clock.now += (run++ % 2) != 0 ? 0.1 : 0.2; }}}, clock.options());
  EXPECT_EQ(timings[0].summary.count, 200);
  EXPECT_TRUE(timings[0].isNoisy);
}

/// Of 15 samples, 3 in a row take twice as long: outliers that leave no deviation behind.
TEST(Timer, BurstsAreNoise) {
  for (const auto &[hit, isNoise] : {std::pair(3, true), std::pair(1, false)}) {
    FakeClock clock;
    int run = 0;
    auto timings = timeInterleaved(
        {{"a", [&] { clock.now += 1 + 0.001 * (run % 3) + (run % 15 < hit ? 1 : 0), ++run; }}},
        clock.options());
    EXPECT_LT(timings[0].summary.relativeDeviation, 0.05) << hit;
    EXPECT_EQ(timings[0].isNoisy, isNoise) << hit;
  }
}

/// Twenty samples of 27 us fit between two bursts of 4 ms in 15, and would all agree.
TEST(Timer, ShortSamplesSeeBurstsToo) {
  FakeClock clock;
  clock.now = 4e-3;
  const auto run = [&] {
    const bool isHit = std::fmod(clock.now, 15e-3) < 4e-3;
    clock.now += isHit ? 54e-6 : 27e-6;
  };
  auto timings = timeInterleaved({{"a", run}}, clock.options());
  EXPECT_GE(clock.now, 60e-3);
  EXPECT_TRUE(timings[0].isNoisy);
}

TEST(Timer, VersionsTakeTurnsAndHooksAreNotTimed) {
  FakeClock clock;
  std::string order;
  Version a{"a", [&] {
              clock.now += 1;
              order += 'a';
            }};
  a.prepare = [&] { clock.now += 100; };
  Version b{"b", [&] {
              clock.now += 2;
              order += 'b';
            }};
  auto options = clock.options();
  options.secondsBudget = 1e6;
  auto timings = timeInterleaved({a, b}, options);
  EXPECT_DOUBLE_EQ(timings[0].summary.median, 1);
  EXPECT_DOUBLE_EQ(timings[1].summary.median, 2);
  EXPECT_NE(order.find("abababab"), std::string::npos);
}

TEST(Timer, QuickRunsAreRepeatedWithinOneSample) {
  FakeClock clock;
  auto timings = timeInterleaved({{"a", [&] { clock.now += 1e-6; }}}, clock.options());
  EXPECT_GE(timings[0].runsPerSample, 20);
  EXPECT_NEAR(timings[0].summary.median, 1e-6, 1e-9);
}

TEST(Timer, EveryRunOfASampleIsRenewedOutsideOfItsTime) {
  FakeClock clock;
  int renewed = 0, stale = 0;
  bool isFresh = false;
  Version a{"a", [&] {
              clock.now += 1e-6;
              stale += isFresh ? 0 : 1;
              isFresh = false;
            }};
  a.renew = [&] {
    clock.now += 1;
    isFresh = true;
    ++renewed;
  };
  auto options = clock.options();
  options.secondsBudget = 1e9;
  auto timings = timeInterleaved({a}, options);
  EXPECT_GE(timings[0].runsPerSample, 20);
  EXPECT_GE(renewed, 20 * timings[0].runsPerSample);
  EXPECT_EQ(stale, 0);
  EXPECT_NEAR(timings[0].summary.median, 1e-6, 1e-9);
}

TEST(Timer, ABudgetLengthensAndNeverShortens) {
  FakeClock clock;
  auto options = clock.options();
  options.secondsBudget = 5;
  int run = 0;
  auto timings = timeInterleaved({{"a", [&] { clock.now += 1 + run++ % 2; }}}, options);
  EXPECT_EQ(timings[0].summary.count, 20);
  EXPECT_TRUE(timings[0].isNoisy);
  EXPECT_FALSE(timings[0].isShort);
}

TEST(Timer, WhoIsStoppedSaysSo) {
  FakeClock clock;
  auto options = clock.options();
  int run = 0;
  options.isStopped = [&] { return run > 12; };
  auto timings = timeInterleaved({{"a",
                                   [&] {
                                     clock.now += 1;
                                     ++run;
                                   }}},
                                 options);
  EXPECT_LT(timings[0].summary.count, 20);
  EXPECT_TRUE(timings[0].isShort);
}
