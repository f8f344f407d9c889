// SPDX-License-Identifier: Apache-2.0
// What becomes of launches that are wrong at first, wrong later, not launches of their own tensors,
// or quicker than the machine. The launches are functions here.
#include "lib/bench/measurement/Measurement.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

using runtime::Tensor;

/// Doubles 64 numbers.
class MeasurementTest : public testing::Test {
protected:
  MeasurementTest() {
    x.poison();
    for (int64_t i = 0; i < 64; ++i) {
      x.set(i, static_cast<double>(i));
    }
    EXPECT_TRUE(bool(bench.check.surround({{"x", &x}, {"out", &out}})));
    bench.check.watch({x}, {out}, [this] {
      ++judged;
      return out.at(3) == 6 && out.at(63) == 126 ? "" : "wrong result";
    });
    bench.renew = [this] { out.poison(); };
    bench.row.caseName = "one";
  }
  TimedLaunch doubling(double factor = 2) {
    TimedLaunch launch;
    launch.name = "kernel";
    launch.run = [this, factor] {
      ++launches;
      for (int64_t i = 0; i < 64; ++i) {
        out.set(i, x.at(i) * factor);
      }
      return std::string();
    };
    launch.runEmpty = [] {};
    return launch;
  }
  Row time(const TimedLaunch &launch) { return timeLaunches(bench, {launch}, chip, 0.01).front(); }

  Tensor x = Tensor::empty({64}, DType::F32), out = Tensor::empty({64}, DType::F32);
  Machine chip;
  Bench bench;
  int judged = 0, launches = 0;
};

TEST_F(MeasurementTest, ARightLaunchIsTimedAndVerifiedByBytes) {
  const Row row = time(doubling());
  EXPECT_EQ(row.failure, "");
  EXPECT_TRUE(row.isVerified);
  EXPECT_EQ(row.caseName, "one");
  EXPECT_GE(row.kernel.summary.count, 20);
  EXPECT_EQ(judged, 1) << "the same bytes need no second comparison";
  EXPECT_FALSE(row.hasPeer());
}

/// Its tensors are copies that it works on; time and verdict are of the launch.
TEST_F(MeasurementTest, ALaunchElsewhereIsSentWhatIsNewAndFetchedBeforeItIsVerified) {
  const Tensor from = x.to(DType::F32), to = out.to(DType::F32);
  TimedLaunch launch = doubling();
  launch.send = [&] {
    from.copyFrom(x);
    to.copyFrom(out);
    return std::string();
  };
  launch.run = [&] {
    ++launches;
    const bool isNew = to.at(3) != 6; // the outputs of the launch before are gone
    for (int64_t i = 0; i < 64; ++i) {
      to.set(i, isNew ? from.at(i) * 2 : 0);
    }
    return std::string();
  };
  launch.fetch = [&] {
    out.copyFrom(to);
    return std::string();
  };
  const Row row = time(launch);
  EXPECT_EQ(row.failure, "");
  EXPECT_TRUE(row.isVerified);
  for (auto step : {&TimedLaunch::send, &TimedLaunch::fetch}) {
    TimedLaunch failing = launch;
    failing.*step = [] { return std::string("the cable is out"); };
    EXPECT_EQ(time(failing).failure, "the cable is out");
  }
}

/// As the kernel's, which are renewed: of several queued at once only the first one has to begin.
TEST_F(MeasurementTest, OfADeviceEachRunIsTimedAlone) {
  int prepared = 0, runs = 0, most = 0;
  TimedLaunch peer = doubling(), kernel = doubling();
  peer.prepare = [&] { ++prepared; };
  peer.timedRuns = [&](int count, double &seconds) {
    runs += count;
    most = std::max(most, count);
    seconds = count * 1e-6;
    return std::string();
  };
  kernel.timedRuns = [run = kernel.run](int count, double &seconds) {
    EXPECT_EQ(count, 1);
    seconds = 1e-6;
    return run();
  };
  bench.peer = peer;
  const Row row = time(kernel);
  EXPECT_EQ(row.failure, "");
  EXPECT_GT(runs, 20);
  EXPECT_EQ(prepared, runs);
  EXPECT_EQ(most, 1);
}

TEST_F(MeasurementTest, AWrongLaunchIsNotTimed) {
  const Row row = time(doubling(3));
  EXPECT_EQ(row.failure, "wrong result");
  EXPECT_TRUE(row.kernel.samples.empty());
  EXPECT_EQ(launches, 1);
}

TEST_F(MeasurementTest, OneThatIsRightOnlyAtFirstFails) {
  TimedLaunch launch = doubling();
  launch.run = [this, right = doubling(), wrong = doubling(3)] {
    return launches < 1 ? right.run() : wrong.run();
  };
  const Row row = time(launch);
  EXPECT_FALSE(row.isVerified);
  EXPECT_EQ(row.failure, "a timed launch: wrong result");
}

TEST_F(MeasurementTest, OneThatRestsOnWhatItLeftBehindFails) {
  TimedLaunch launch = doubling();
  launch.run = [this, right = doubling()] {
    return launches < 1 ? right.run() : std::string(); // the outputs of the launch before
  };
  EXPECT_NE(time(launch).failure.find("wrong result"), std::string::npos);
}

TEST_F(MeasurementTest, InputsAndNeighboursAreWatched) {
  TimedLaunch launch = doubling();
  launch.run = [this, right = doubling()] {
    right.run();
    x.set(5, 0);
    return std::string();
  };
  EXPECT_EQ(time(launch).failure, "an input is changed: nereid verify says which");
  launch.run = [this, right = doubling()] {
    right.run();
    out.as<uint8_t>()[out.byteCount()] ^= 0xFF;
    return std::string();
  };
  EXPECT_EQ(time(launch).failure.substr(0, 20), "writes outside 'out'");
}

TEST_F(MeasurementTest, ErrorsOfLaunchAndPeerAreTold) {
  TimedLaunch failing = doubling();
  failing.run = [] { return std::string("no such grid"); };
  EXPECT_EQ(time(failing).failure, "no such grid");
  bench.peer = TimedLaunch{.name = "library", .run = [] { return std::string("not installed"); }};
  const Row row = time(doubling());
  EXPECT_EQ(row.failure, "not installed");
  EXPECT_EQ(row.peer.name, "library");
}

TEST_F(MeasurementTest, WithoutAReferenceNothingIsVerified) {
  bench.check.watch({}, {out}, nullptr);
  const Row row = time(doubling(3));
  EXPECT_EQ(row.failure, "");
  EXPECT_FALSE(row.isVerified);
  EXPECT_GE(row.kernel.summary.count, 20);
}

TEST_F(MeasurementTest, EachOfSeveralLaunchesHasItsRow) {
  TimedLaunch second = doubling();
  second.name = "second";
  second.run = [right = doubling()] {
    right.run();
    return right.run();
  };
  const std::vector<Row> rows = timeLaunches(bench, {doubling(), second}, chip, 0.01);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].kernel.name, "second");
  EXPECT_GT(rows[1].kernel.summary.median, rows[0].kernel.summary.median);
  EXPECT_EQ(rows[0].failure + rows[1].failure, "");
}

Row rowOf(double seconds, double copySeconds) {
  Row row;
  row.bytes = 1e6;
  row.kernel.samples.assign(20, seconds);
  measure::judgeSamples(row.kernel, measure::TimerOptions());
  row.copySeconds = copySeconds;
  return row;
}

TEST(RowTest, SharesAreOfWhatWasTimedBesideTheKernel) {
  Machine chip;
  chip.cores = 1;
  chip.copyBandwidth = 1e9; // 1 ms
  Row row = rowOf(2e-3, 0);
  judgeSpeed(row, chip);
  EXPECT_DOUBLE_EQ(row.rooflineShare(), 0.5);
  row = rowOf(2e-3, 1.8e-3);
  judgeSpeed(row, chip);
  EXPECT_DOUBLE_EQ(row.bandwidthShare(), 0.9);
  EXPECT_EQ(row.rooflineFault() + row.failure, "");
}

TEST(RowTest, WhatIsTooQuickIsRejectedOrSaysThatTheRooflineIsWrong) {
  Machine chip;
  chip.cores = 1;
  chip.copyBandwidth = 1e9;
  Row row = rowOf(0.8e-3, 0);
  judgeSpeed(row, chip);
  EXPECT_EQ(row.failure, "");
  EXPECT_NE(row.rooflineFault().find("calibrate again"), std::string::npos);
  row = rowOf(0.8e-3, 1e-3);
  judgeSpeed(row, chip);
  EXPECT_NE(row.rooflineFault().find("was held up"), std::string::npos);
  row = rowOf(0.1e-3, 1e-3);
  judgeSpeed(row, chip);
  EXPECT_NE(row.failure.find("rejected as impossible"), std::string::npos);
}

} // namespace
} // namespace nereid::bench
