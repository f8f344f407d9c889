// SPDX-License-Identifier: Apache-2.0
// Gains are told from noise on samples whose truth is known.
#include "lib/measure/statistics/Evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace nereid::measure;

namespace {

/// Samples of a version that takes `seconds` and is disturbed, with a slow spell that drifts.
class Machine {
public:
  explicit Machine(unsigned seed) : random(seed) {}

  std::vector<Timing> timed(const std::vector<double> &seconds, double disturbance) {
    std::vector<Timing> timings(seconds.size());
    std::normal_distribution<double> normal(0, 1);
    double drift = 0;
    for (int turn = 0; turn < 20; ++turn) {
      drift = 0.9 * drift + disturbance * normal(random);
      for (size_t i = 0; i < seconds.size(); ++i) {
        const double own = 1 + disturbance * std::fabs(normal(random)) + std::max(0.0, drift);
        timings[i].samples.push_back(seconds[i] * own);
      }
    }
    for (Timing &timing : timings) {
      timing.summary = summarize(timing.samples);
      timing.isNoisy = timing.summary.relativeDeviation > TimerOptions().maximumDeviation;
    }
    return timings;
  }

private:
  std::mt19937 random;
};

int kept(double after, double disturbance, int duels, int tries) {
  Machine machine(7);
  int count = 0;
  for (int i = 0; i < duels; ++i) {
    bool isKept = true;
    for (int confirmed = 0; confirmed < 2 && isKept; ++confirmed) {
      const auto timings = machine.timed({1, 1, after}, disturbance);
      isKept = weigh(timings[0], timings[1], timings[2], tries).isGain(1.02, 0.01);
    }
    count += isKept ? 1 : 0;
  }
  return count;
}

TEST(Evidence, AGainIsTold) {
  EXPECT_GT(kept(0.9, 0.01, 100, 1), 95);
  EXPECT_GT(kept(0.9, 0.01, 100, 10), 90);
}

TEST(Evidence, TheSameIsNoGain) {
  for (double disturbance : {0.003, 0.03, 0.3}) {
    EXPECT_LE(kept(1, disturbance, 1000, 1), 1) << disturbance;
  }
}

TEST(Evidence, ASlowdownOrATrifleIsNoGain) {
  EXPECT_EQ(kept(1.1, 0.01, 100, 1), 0);
  EXPECT_EQ(kept(0.99, 0.001, 100, 1), 0); // significant, and smaller than what is asked for
}

TEST(Evidence, ALossIsTold) {
  Machine machine(11);
  auto timings = machine.timed({1, 1, 1.1}, 0.005);
  EXPECT_TRUE(weigh(timings[0], timings[1], timings[2], 1).isLoss(1.02, 0.01));
  timings = machine.timed({1, 1, 0.9}, 0.005);
  EXPECT_FALSE(weigh(timings[0], timings[1], timings[2], 1).isLoss(1.02, 0.01));
  timings = machine.timed({1, 1, 1}, 0.005);
  EXPECT_FALSE(weigh(timings[0], timings[1], timings[2], 1).isLoss(1.02, 0.01));
}

TEST(Evidence, NoisyOrStoppedPairsAreNotToldApart) {
  Machine machine(3);
  auto timings = machine.timed({1, 1, 0.5}, 0.001);
  EXPECT_TRUE(weigh(timings[0], timings[1], timings[2], 1).isGain(1.02, 0.01));
  timings[2].isShort = true;
  EXPECT_FALSE(weigh(timings[0], timings[1], timings[2], 1).isGain(1.02, 0.01));
  timings[2].isShort = false;
  for (Timing &timing : timings) {
    timing.summary.relativeDeviation =
        0.3; // More than a quarter of what a twofold gain takes away.
    EXPECT_FALSE(weigh(timings[0], timings[1], timings[2], 1).isGain(1.02, 0.01));
    timing.summary.relativeDeviation = 0.001;
  }
}

TEST(Evidence, WhatIsNoisyDependsOnTheDifference) {
  Evidence evidence;
  evidence.pValue = 1e-9;
  auto isTold = [&](double gain, double deviation) {
    evidence.gain = gain;
    evidence.deviation = deviation;
    return gain > 1 ? evidence.isGain(1.02, 0.01) : evidence.isLoss(1.02, 0.01);
  };
  EXPECT_TRUE(isTold(1.03, 0.049));
  EXPECT_FALSE(isTold(1.03, 0.051));
  EXPECT_FALSE(isTold(1.2, 0.06));
  EXPECT_TRUE(isTold(1.4, 0.09));
  EXPECT_FALSE(isTold(1.4, 0.11));
  EXPECT_TRUE(isTold(2, 0.24));
  EXPECT_FALSE(isTold(2, 0.26));
  EXPECT_TRUE(isTold(0.5, 0.24)); // A loss is told as the gain that its reverse is.
  EXPECT_FALSE(isTold(0.5, 0.26));
}

TEST(Evidence, ALargeGainIsToldOnARestlessMachine) { EXPECT_GT(kept(0.4, 0.05, 100, 1), 90); }

TEST(Evidence, ManyTriesNeedMore) {
  Machine machine(5);
  const auto timings = machine.timed({1, 1, 0.9}, 0.001);
  const double one = weigh(timings[0], timings[1], timings[2], 1).pValue;
  EXPECT_NEAR(weigh(timings[0], timings[1], timings[2], 8).pValue, 8 * one, 1e-12);
}

} // namespace
