// SPDX-License-Identifier: Apache-2.0
// Laws of the roofline: what moving bytes takes at best wherever they live, what is impossible, and
// what is no result.
#include "lib/measure/peaks/Roofline.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::measure;

namespace {

Machine chip() {
  Machine result;
  result.cores = 2;
  result.caches = {
      {"L1d", 1000, 1, 100e9, 200e9}, {"L2", 10000, 1, 50e9, 0}, {"L3", 100000, 2, 0, 40e9}};
  result.copyBandwidth = 10e9;
  result.readBandwidth = 8e9;
  result.peakFlops = {{"fp32", 1e11}, {"fp64", 5e10}, {"bf16", 2e11}};
  return result;
}

TEST(Roofline, SideAndImpossibleTimes) {
  Machine chip;
  chip.copyBandwidth = 1e9;
  chip.peakFlops["fp32"] = 1e10;
  chip.caches = {{"L3", 1000, 1, 0}};
  Roofline memory = roofline(chip, 1e6, 1e6, DType::F32);
  EXPECT_TRUE(memory.isMemoryBound());
  EXPECT_DOUBLE_EQ(memory.floorSeconds(), 1e-3 - 1e-6) << "a cache of unknown rate is free";
  EXPECT_DOUBLE_EQ(memory.ridge, 10);
  EXPECT_FALSE(roofline(chip, 1e6, 1e8, DType::F32).isMemoryBound());
  EXPECT_TRUE(isImpossible(chip, memory, {}, 1e-4));
  EXPECT_FALSE(isImpossible(chip, memory, {}, 0.9e-3));
  // Data inside the cache may beat memory, but not arithmetic.
  Roofline cached = roofline(chip, 2000, 2000, DType::F32);
  EXPECT_FALSE(isImpossible(chip, cached, {}, 1e-6));
  EXPECT_TRUE(isImpossible(chip, cached, {}, 1e-8));
}

} // namespace

TEST(Roofline, BytesMoveAtTheRateOfWhereTheyLive) {
  // 2 x 1000 bytes in L1 at 200 GB/s, up to 2 x 10000 in L2 at twice 50, up to 100000 in L3 at 40.
  EXPECT_DOUBLE_EQ(memorySeconds(chip(), 2000), 2000 / 200e9);
  EXPECT_DOUBLE_EQ(memorySeconds(chip(), 12000), 2000 / 200e9 + 10000 / 100e9);
  EXPECT_DOUBLE_EQ(memorySeconds(chip(), 300000),
                   2000 / 200e9 + 18000 / 100e9 + 80000 / 40e9 + 200000 / 10e9);
}

TEST(Roofline, MoreBytesNeverTakeLessAndNothingJumps) {
  double former = 0;
  for (double bytes = 100; bytes < 1e6; bytes += 100) {
    const double seconds = memorySeconds(chip(), bytes);
    EXPECT_GT(seconds, former);
    EXPECT_LE(seconds - former, 100 / 10e9 + 1e-15);
    former = seconds;
  }
}

TEST(Roofline, ALevelIsNeverSlowerThanThoseBehindIt) {
  Machine odd = chip();
  odd.caches[1].bytesPerSecond = 1e9;
  odd.caches[2].allBytesPerSecond = 2e9;
  EXPECT_DOUBLE_EQ(memorySeconds(odd, 50000), 2000 / 200e9 + 48000 / 10e9);
}

TEST(Roofline, WhatNobodyMeasuredForbidsNothing) {
  Machine unknown = chip();
  for (CacheLevel &cache : unknown.caches) {
    cache.bytesPerSecond = cache.allBytesPerSecond = 0;
  }
  EXPECT_EQ(memorySeconds(unknown, 50000), 0);
  EXPECT_DOUBLE_EQ(memorySeconds(unknown, 300000), 200000 / 10e9);
  EXPECT_EQ(memorySeconds(Machine(), 1e9), 0);
  EXPECT_FALSE(isImpossible(Machine(), roofline(Machine(), 1e9, 1e9, DType::F32), {}, 1e-9));
}

TEST(Roofline, ADeviceKeepsItsSharedCacheBetweenLaunches) {
  Machine device;
  device.cores = 4;
  device.caches = {{"L1d", 1 << 20, 1, 0, 1e12}, {"L2", 1 << 20, 4, 0, 100e9}};
  device.copyBandwidth = 10e9;
  const double bytes = 2 << 20;
  EXPECT_DOUBLE_EQ(memorySeconds(device, bytes), bytes / 1e12) << "4 MiB of the first level";
  device.isDevice = true;
  EXPECT_DOUBLE_EQ(memorySeconds(device, bytes), bytes / 2 / 100e9 + bytes / 2 / 10e9);
  EXPECT_EQ(rooflineFault(1.23, false, true),
            "roofline too low (123 % of it): calibrate again, nereid calibrate --target");
}

TEST(Roofline, OfTwoFloorsTheSmallerForbids) {
  const Roofline floor = roofline(chip(), 1e9, 0, DType::F32);
  const double seconds = floor.memorySeconds;
  EXPECT_TRUE(isImpossible(chip(), floor, {}, 0.4 * seconds));
  Roofline quicker;
  quicker.memorySeconds = 0.5 * seconds;
  EXPECT_FALSE(isImpossible(chip(), floor, quicker, 0.4 * seconds));
  EXPECT_TRUE(isImpossible(chip(), floor, quicker, 0.2 * seconds));
}

TEST(Roofline, UncertainRatesForbidLess) {
  Machine busy = chip();
  busy.calibration.uncertainty = "other processes used 40 % of the processors";
  const Roofline floor = roofline(busy, 1e9, 0, DType::F32);
  EXPECT_FALSE(isImpossible(busy, floor, {}, 0.4 * floor.memorySeconds));
  EXPECT_TRUE(isImpossible(busy, floor, {}, 0.2 * floor.memorySeconds));
}

TEST(Roofline, NarrowTypesHaveThePeakOfTheirDotProducts) {
  EXPECT_EQ(peakType(chip(), DType::BF16), DType::BF16);
  EXPECT_EQ(peakType(chip(), DType::F64), DType::F64);
  for (DType other : {DType::F16, DType::I8, DType::U8, DType::I64, DType::F32}) {
    EXPECT_EQ(peakType(chip(), other), DType::F32) << "no peak of its own";
  }
}

TEST(Roofline, MoreThanTheRooflineIsNoResult) {
  EXPECT_EQ(rooflineFault(0.5, false), "");
  EXPECT_EQ(rooflineFault(1.04, false), "");
  EXPECT_EQ(rooflineFault(1.23, false),
            "roofline too low (123 % of it): calibrate again, nereid chips --recalibrate");
  EXPECT_EQ(rooflineFault(1.5, true),
            "roofline too low (150 % of it): what was timed beside the kernel was held up");
}
