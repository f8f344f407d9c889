// SPDX-License-Identifier: Apache-2.0
// When the machine's rates are measured, believed, and measured again; the machine, the clock and
// what disturbs them are made here.
#include "lib/measure/peaks/Calibrate.h"
#include "lib/measure/peaks/ThisChip.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace nereid;
using namespace nereid::measure;
namespace fs = std::filesystem;

namespace {

/// A machine whose rates are `speed` times the usual ones at each calibration.
class ThisChip : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("chips_" + std::to_string(::getpid()));
    fs::remove_all(folder);
    seams.folder = folder.string();
    seams.detect = [] {
      Machine chip;
      chip.name = chip.fingerprint = "test chip";
      chip.architecture = "x86-64";
      chip.caches = {{"L1d", 32768, 1, 0}, {"L3", 1 << 25, 2, 0}};
      return chip;
    };
    seams.calibrate = [this](Machine &chip) {
      ++calibrations;
      for (double *rate : {&chip.copyBandwidth, &chip.copyBandwidthOneCore, &chip.readBandwidth,
                           &chip.writeBandwidth, &chip.peakFlops["fp32"], &chip.peakFlops["fp64"],
                           &chip.peakFlopsOneCore["fp32"], &chip.peakFlopsOneCore["fp64"]}) {
        *rate = speed * 1e10;
      }
      for (CacheLevel &cache : chip.caches) {
        cache.bytesPerSecond = cache.allBytesPerSecond = speed * 1e11;
      }
      chip.isCalibrated = true;
      return spread;
    };
    seams.disturbance = [this] { return disturbance; };
    seams.waitAWhile = [] {};
    seams.now = [this] { return seconds; };
    seams.say = [this](const std::string &line) { said += line + "\n"; };
  }
  void TearDown() override { fs::remove_all(folder); }

  Machine chip(bool recalibrate = false) { return thisChip(recalibrate, seams); }
  fs::path file() const { return fs::directory_iterator(folder)->path(); }
  /// Changes one value of the file that is kept.
  void doctor(const std::function<void(nlohmann::json &)> &change) {
    std::ifstream in(file());
    auto json = nlohmann::json::parse(in);
    change(json);
    std::ofstream(file()) << json.dump();
  }

  fs::path folder;
  CalibrationSeams seams;
  Disturbance disturbance;
  int64_t seconds = 1000000;
  int calibrations = 0;
  double speed = 1, spread = 0.01;
  std::string said;
};

constexpr int64_t day = 86400;

} // namespace

TEST_F(ThisChip, IsMeasuredOnceAndSaysSo) {
  EXPECT_EQ(chip().copyBandwidth, 1e10);
  EXPECT_NE(said.find("measuring what this machine can do"), std::string::npos);
  EXPECT_NE(said.find(seams.folder), std::string::npos);
  said.clear();
  EXPECT_EQ(chip().copyBandwidth, 1e10);
  EXPECT_EQ(calibrations, 1);
  EXPECT_EQ(said, "");
}

TEST_F(ThisChip, BusyRatesAreUncertainAndRepairedWhenItIsQuiet) {
  disturbance.others = 0.4;
  speed = 0.5;
  const Machine busy = chip();
  EXPECT_EQ(busy.calibration.uncertainty, "other processes used 40 % of the processors");
  EXPECT_NE(said.find("uncertain"), std::string::npos);
  // Busy still, or too soon: what is there is used.
  seconds += 3600;
  EXPECT_EQ(chip().copyBandwidth, 0.5e10);
  disturbance.others = 0;
  seconds -= 3595;
  EXPECT_EQ(calibrations, 1);
  EXPECT_EQ(chip().copyBandwidth, 0.5e10);
  seconds += 3600;
  speed = 1;
  const Machine repaired = chip();
  EXPECT_EQ(repaired.copyBandwidth, 1e10);
  EXPECT_EQ(repaired.calibration.uncertainty, "");
  EXPECT_EQ(calibrations, 2);
}

TEST_F(ThisChip, StolenTimeAndSpreadAreUncertainToo) {
  disturbance.stolen = 0.2;
  EXPECT_EQ(chip().calibration.uncertainty, "other guests of the host took 20 % of the processors");
  disturbance.stolen = 0;
  spread = 0.5;
  seconds += 3600;
  EXPECT_EQ(chip().calibration.uncertainty, "repetitions of one figure were 50 % apart");
}

TEST_F(ThisChip, AMachineThatIsNeverSteadyIsNotMeasuredForEver) {
  spread = 0.5;
  for (int i = 0; i < 1000; ++i) {
    (void)chip();
    seconds += 600;
  }
  EXPECT_GE(calibrations, 5);
  EXPECT_LE(calibrations, 15) << "within a week";
}

TEST_F(ThisChip, TheBestOfSeveralDaysCounts) {
  for (double today : {1.0, 0.7, 1.2, 0.9, 1.0, 2.0, 3.0}) {
    speed = today;
    (void)chip();
    seconds += day;
  }
  EXPECT_EQ(calibrations, 5) << "on five days, then it is known";
  EXPECT_EQ(chip().copyBandwidth, 1.2e10);
  EXPECT_EQ(chip().peakFlops.at("fp32"), 1.2e10);
  EXPECT_EQ(chip().caches[1].allBytesPerSecond, 1.2e11);
}

TEST_F(ThisChip, WhatWasCertainStaysCertain) {
  (void)chip();
  disturbance.others = 0.5;
  speed = 0.5;
  const Machine again = chip(true);
  EXPECT_EQ(again.copyBandwidth, 1e10);
  EXPECT_EQ(again.calibration.uncertainty, "");
}

TEST_F(ThisChip, DoctoredFilesAreMeasuredAgain) {
  const std::vector<std::function<void(nlohmann::json &)>> changes = {
      [](auto &json) { json["copy_bandwidth"] = 0; },
      [](auto &json) { json["copy_bandwidth"] = -1e10; },
      [](auto &json) { json["copy_bandwidth"] = nullptr; }, // what NaN is written as
      [](auto &json) { json["copy_bandwidth"] = 3; },
      [](auto &json) { json["peak_flops"]["fp32"] = 1; },
      [](auto &json) { json["peak_flops"].erase("fp64"); },
      [](auto &json) { json["peak_flops_one_core"]["fp32"] = "quick"; },
      [](auto &json) { json["caches"][1]["all_bytes_per_second"] = 0; },
      [](auto &json) { json["caches"][0].erase("all_bytes_per_second"); },
      [](auto &json) { json["cores"] = 1e300; },
      [](auto &json) { json["calibration"] = 3; },
      [](auto &json) { json["fingerprint"] = "another chip"; },
      [](auto &json) { json = nlohmann::json::array(); },
  };
  (void)chip();
  for (size_t i = 0; i < changes.size(); ++i) {
    calibrations = 0;
    doctor(changes[i]);
    EXPECT_EQ(chip().copyBandwidth, 1e10) << i;
    EXPECT_EQ(calibrations, 1) << i;
  }
  std::ofstream(file()) << "{\"copy_bandwidth\": NaN";
  EXPECT_EQ(chip().copyBandwidth, 1e10);
  fs::remove(file());
  EXPECT_EQ(chip().copyBandwidth, 1e10);
}

TEST_F(ThisChip, UnbelievableRatesGiveWayToQuietOnes) {
  (void)chip();
  doctor([](auto &json) { json["copy_bandwidth"] = 1e15; });
  EXPECT_EQ(chip().copyBandwidth, 1e15);
  EXPECT_EQ(chip(true).copyBandwidth, 1e10);
}

TEST_F(ThisChip, RatesThatCannotBeMeasuredAreUncertain) {
  seams.calibrate = [this](Machine &) {
    ++calibrations;
    return 0.0;
  };
  EXPECT_EQ(chip().calibration.uncertainty, "not all rates could be measured");
  EXPECT_EQ(calibrations, 2);
}

TEST(Calibration, MeasuresEveryRate) {
  Machine chip = detectMachine();
  (void)calibrate(chip);
  EXPECT_TRUE(hasRates(chip)) << toJson(chip);
}

TEST_F(ThisChip, UncertainRatesAreMeasuredAgainBeforeTheyForbid) {
  disturbance.others = 0.8;
  speed = 0.1;
  const Machine busy = chip();
  TimedWork work{.bytes = 1e12, .seconds = 1}; // 100 seconds at the usual rate, 1000 at that of now
  EXPECT_TRUE(isImpossibleHere(busy, work, seams)) << "still as busy";
  EXPECT_EQ(calibrations, 2);
  work.seconds = 150; // fewer than a quarter of 1000
  EXPECT_TRUE(isImpossible(busy, roofline(busy, 1e12, 0, nereid::DType::F32), {}, 150));
  EXPECT_TRUE(isImpossibleHere(busy, work, seams));
  speed = 1;
  EXPECT_FALSE(isImpossibleHere(busy, work, seams)) << "it was not the kernel";
  work.seconds = 300; // more than a quarter: nothing to measure
  EXPECT_FALSE(isImpossibleHere(busy, work, seams));
  EXPECT_EQ(calibrations, 4);
  // Certain rates need no second look.
  disturbance.others = 0;
  const Machine quiet = chip(true);
  ASSERT_EQ(quiet.calibration.uncertainty, "");
  work.seconds = 1;
  EXPECT_TRUE(isImpossibleHere(quiet, work, seams));
  EXPECT_EQ(calibrations, 5);
}
