// SPDX-License-Identifier: Apache-2.0
// What calibrating a device measures there, on the tests' device, and what keeps a wrong result
// from becoming a rate.
#include "lib/bench/calibration/DeviceCalibration.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "unittests/FarDevice.h"
#include "unittests/develop/FarTarget.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

using runtime::test::FarDevice;

class Calibrating : public testing::Test {
protected:
  Calibrating() {
    develop::test::registerFarTarget();
    options.target = "far:0";
    options.memoryBytes = 1 << 20;
    options.rounds = 16;
    options.repeats = 2;
  }
  FarDevice &far = FarDevice::get();
  CalibrationOptions options;
};

TEST_F(Calibrating, FillsInTheRates) {
  const size_t allocations = far.allocationCount();
  auto chip = calibrateDevice(far, options);
  ASSERT_TRUE(bool(chip)) << chip.error().message;
  EXPECT_TRUE(chip->isCalibrated);
  EXPECT_TRUE(chip->isDevice);
  EXPECT_GT(chip->copyBandwidth, 1e6);
  EXPECT_GT(chip->readBandwidth, 1e6);
  EXPECT_GT(chip->writeBandwidth, 1e6);
  for (const char *type : {"fp32", "fp64", "fp16", "bf16"}) {
    EXPECT_GT(chip->peakFlops[type], 1e6) << type;
  }
  EXPECT_GT(chip->launchSeconds, 0);
  EXPECT_GT(chip->queuedLaunchSeconds, 0);
  EXPECT_NE(chip->calibratedBy.find("nereid "), std::string::npos);
  EXPECT_EQ(chip->fingerprint, measure::describeDevice(far).fingerprint);
  EXPECT_LE(far.allocationCount(), allocations + 2) << "its buffers go again";
  // Through the file.
  auto read = machineFromJson(toJson(*chip), "far.json");
  ASSERT_TRUE(bool(read)) << read.error().message;
  EXPECT_EQ(read->launchSeconds, chip->launchSeconds);
  EXPECT_EQ(read->calibratedBy, chip->calibratedBy);
}

TEST_F(Calibrating, SaysWhatTheDeviceSays) {
  far.nextError = runtime::LaunchError{"E0421", "'far:0' is lost to this process"};
  far.callsBeforeError = 9;
  auto chip = calibrateDevice(far, options);
  ASSERT_FALSE(bool(chip));
  EXPECT_EQ(chip.error().code, "E0421");
  far.failsAllocations = true;
  chip = calibrateDevice(far, options);
  far.failsAllocations = false;
  ASSERT_FALSE(bool(chip));
  EXPECT_EQ(chip.error().code, "E0506");
}

/// Descriptors that users write may leave out what a device does not say, and not lie about it.
TEST(DeviceChip, LaunchesAreSeconds) {
  Machine chip = genericMachine();
  chip.launchSeconds = 4e-6;
  std::string text = toJson(chip);
  EXPECT_TRUE(bool(machineFromJson(text, "chip.json")));
  text.replace(text.find("4e-06"), 5, "\"x\"");
  const auto wrong = machineFromJson(text, "chip.json");
  ASSERT_FALSE(bool(wrong));
  EXPECT_EQ(wrong.error().code, "E0701");
}

} // namespace
} // namespace nereid::bench
