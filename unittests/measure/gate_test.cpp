// SPDX-License-Identifier: Apache-2.0
// Two runs at different times: what became slower, what the machine did, and what cannot be told.
#include "lib/measure/statistics/Gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace nereid::measure;

namespace {

/// A run's machine: its own speed, and how much each sample is disturbed.
struct Conditions {
  double seconds = 1e-3, machine = 1, disturbance = 0.005;
  int samples = 40;
  bool hasYardstick = true;
};

Timing timed(double seconds, const Conditions &run, std::mt19937 &random) {
  std::normal_distribution<double> normal(0, run.disturbance);
  Timing timing;
  for (int i = 0; i < run.samples; ++i) {
    timing.samples.push_back(seconds * run.machine * (1 + std::fabs(normal(random))));
  }
  judgeSamples(timing, TimerOptions());
  return timing;
}

RecordedCase recorded(const std::string &name, const Conditions &run, unsigned seed) {
  std::mt19937 random(seed);
  RecordedCase one;
  one.name = name;
  one.timing = timed(run.seconds, run, random);
  if (run.hasYardstick) {
    one.yardstick = timed(1e-4, run, random);
    one.yardstick.name = "copy";
    one.yardstickAmount = 1e6;
  }
  return one;
}

ResultFile file(const std::vector<RecordedCase> &cases) {
  ResultFile result;
  result.path = "before.json";
  result.subject = "softmax";
  result.fingerprint = "a chip";
  result.threads = 2;
  result.cases = cases;
  return result;
}

GateRow judged(const Conditions &before, const Conditions &now, unsigned seed = 1) {
  auto result =
      judge(file({recorded("one", before, seed)}), file({recorded("one", now, seed + 1)}));
  EXPECT_TRUE(static_cast<bool>(result));
  return result->rows.at(0);
}

} // namespace

TEST(Gate, TellsSlowerAndQuicker) {
  EXPECT_EQ(judged({}, {.seconds = 2e-3}).verdict, Verdict::Slower);
  EXPECT_EQ(judged({}, {.seconds = 1.1e-3}).verdict, Verdict::Slower);
  EXPECT_EQ(judged({}, {.seconds = 0.5e-3}).verdict, Verdict::Quicker);
}

TEST(Gate, NoiseOrATrifleIsNotToldApart) {
  int slower = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    slower += judged({}, {}, 10 * seed).verdict == Verdict::Slower ? 1 : 0;
    slower +=
        judged({.disturbance = 0.04}, {.disturbance = 0.04}, 10 * seed).verdict == Verdict::Slower
            ? 1
            : 0;
  }
  EXPECT_LE(slower, 1);
  const Conditions steady{.disturbance = 1e-4}, trifle{.seconds = 1.01e-3, .disturbance = 1e-4};
  const GateRow row = judged(steady, trifle);
  EXPECT_EQ(row.verdict, Verdict::NotToldApart);
  EXPECT_LT(row.pValue, 1e-6) << "significant, and smaller than what counts";
}

TEST(Gate, NoisyOrShortRunsAreNotToldApart) {
  const GateRow noisy = judged({}, {.seconds = 1.2e-3, .disturbance = 0.3});
  EXPECT_EQ(noisy.verdict, Verdict::NotToldApart);
  EXPECT_NE(noisy.note.find("noisy now"), std::string::npos) << noisy.note;
  // What stands out of the noise is told, and the note still says that there is some.
  const GateRow clear = judged({}, {.seconds = 2e-3, .disturbance = 0.3});
  EXPECT_EQ(clear.verdict, Verdict::Slower);
  EXPECT_NE(clear.note.find("noisy now"), std::string::npos) << clear.note;
  const GateRow few = judged({.samples = 5}, {.seconds = 2e-3});
  EXPECT_EQ(few.verdict, Verdict::NotToldApart);
  EXPECT_NE(few.note.find("few samples then"), std::string::npos) << few.note;
}

TEST(Gate, AMachineThatBecameSlowerIsNotTheProgram) {
  const GateRow row = judged({}, {.machine = 1.3});
  EXPECT_EQ(row.verdict, Verdict::NotToldApart);
  EXPECT_NE(row.note.find("the machine itself took 1.30x"), std::string::npos) << row.note;
  // Without a yardstick nobody knows, and the note says so.
  const GateRow blind = judged({}, {.machine = 1.3, .hasYardstick = false});
  EXPECT_EQ(blind.verdict, Verdict::Slower);
  EXPECT_NE(blind.note.find("drift is not known"), std::string::npos) << blind.note;
}

TEST(Gate, ASlowerProgramOnASlowerMachineIsSeen) {
  EXPECT_EQ(judged({}, {.seconds = 1.2e-3, .machine = 1.3}).verdict, Verdict::Slower);
}

TEST(Gate, AMachineThatBecameQuickerHidesOnlyWhatItOutweighs) {
  EXPECT_EQ(judged({}, {.seconds = 1.1e-3, .machine = 0.8}).verdict, Verdict::NotToldApart);
  EXPECT_EQ(judged({}, {.seconds = 2e-3, .machine = 0.8}).verdict, Verdict::Slower);
}

TEST(Gate, ManyCasesNeedMore) {
  std::vector<RecordedCase> before, now;
  for (unsigned i = 0; i < 8; ++i) {
    before.push_back(recorded(std::to_string(i), {}, 2 * i));
    now.push_back(recorded(std::to_string(i), {}, 2 * i + 1));
  }
  const auto many = judge(file(before), file(now));
  const auto one = judge(file({before[3]}), file({now[3]}));
  ASSERT_TRUE(many && one);
  EXPECT_NEAR(many->rows[3].pValue, std::min(1.0, 8 * one->rows[0].pValue), 1e-12);
}

TEST(Gate, NewGoneAndFailedCasesHaveRows) {
  RecordedCase failed = recorded("failing", {}, 5);
  failed.failure = "wrong result";
  RecordedCase skipped;
  skipped.name = "skipped";
  skipped.skipped = "no memory";
  const auto result =
      judge(file({recorded("same", {}, 1), recorded("gone", {}, 2), recorded("failing", {}, 3),
                  recorded("skipped", {}, 4)}),
            file({recorded("same", {}, 6), recorded("new", {}, 7), failed, skipped}));
  ASSERT_TRUE(static_cast<bool>(result));
  std::vector<Verdict> verdicts;
  for (const GateRow &row : result->rows) {
    verdicts.push_back(row.verdict);
  }
  EXPECT_EQ(verdicts, (std::vector{Verdict::NotToldApart, Verdict::New, Verdict::Failed,
                                   Verdict::NotToldApart, Verdict::Gone}));
  EXPECT_EQ(result->rows[3].note, "skipped now: no memory");
  EXPECT_FALSE(result->passed());
}

TEST(Gate, OtherMachinesThreadsAndKernelsAreRefused) {
  const ResultFile before = file({recorded("one", {}, 1)});
  for (int which = 0; which < 4; ++which) {
    ResultFile now = before;
    now.subject = which == 0 ? "layer_norm" : now.subject;
    now.fingerprint = which == 1 ? "another chip" : now.fingerprint;
    now.threads = which == 2 ? 4 : now.threads;
    now.cases[0].name = which == 3 ? "other float16" : now.cases[0].name;
    auto result = judge(before, now);
    ASSERT_FALSE(static_cast<bool>(result)) << which;
    EXPECT_EQ(result.error().code, "E0704");
  }
}

TEST(Gate, WhatIsNotSlowerAgainIsNotToldApart) {
  const auto before = file({recorded("one", {}, 1), recorded("two", {}, 2)});
  auto first = judge(
      before, file({recorded("one", {.seconds = 2e-3}, 3), recorded("two", {.seconds = 2e-3}, 4)}));
  ASSERT_TRUE(static_cast<bool>(first));
  EXPECT_EQ(first->count(Verdict::Slower), 2);
  const auto again =
      judge(before, file({recorded("one", {}, 5), recorded("two", {.seconds = 2e-3}, 6)}));
  confirm(*first, *again);
  EXPECT_EQ(first->rows[0].verdict, Verdict::NotToldApart);
  EXPECT_NE(first->rows[0].note.find("1.00x when measured again"), std::string::npos);
  EXPECT_EQ(first->rows[1].verdict, Verdict::Slower);
}
