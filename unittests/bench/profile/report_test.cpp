// SPDX-License-Identifier: Apache-2.0
// What a profile says of a device's times, from numbers that are made up.
#include "lib/bench/profile/ProfileReport.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

CaseProfile measuredProfile() {
  CaseProfile profile;
  profile.caseName = "large";
  profile.file = "k.py:k";
  profile.where = "gpu:0";
  profile.info.threads = 256;
  profile.info.scratchBytes = 2048;
  profile.grid = {300, 1, 1};
  profile.resources = {.registers = 40, .sharedBytes = 1024};
  profile.occupation = {.limits = {{"threads", 8}, {"registers", 2}, {"shared memory", 2}},
                        .programs = 2,
                        .share = 0.25};
  profile.processors = 132;
  KernelRow row;
  row.bytes = 4e9;
  row.flops = 1e9;
  row.kernel.samples = {0.002, 0.002, 0.002};
  row.kernel.summary = measure::summarize(row.kernel.samples);
  row.isVerified = true;
  profile.measured = row;
  Machine chip;
  chip.copyBandwidth = 4e12;
  chip.peakFlops["fp32"] = 10e12;
  profile.chip = chip;
  return profile;
}

TEST(ProfileReport, RatesOfTheDescriptor) {
  const std::string text = profileText(measuredProfile());
  for (const char *line : {
           "large k.py:k on gpu:0, grid 300 x 1 x 1\n",
           "  time       2.00 ms (p90 2.00 ms), verified",
           "  bandwidth  2000 GB/s, 50 % of 4000 GB/s\n",
           "  rate       500 GFLOP/s, 5 % of 10000 GFLOP/s\n",
           "  registers  40 of a thread, none in local memory\n",
           "  shared     3 KiB of a program (1 KiB static, 2 KiB dynamic)\n",
           "  occupancy  25 %: 2 programs of 256 threads in a processor, limited by registers and "
           "shared memory\n",
           "room for so many programs: threads 8, registers 2, shared memory 2\n",
           "  waves      1.14: 300 programs, 264 at a time in 132 processors\n",
           "the last one has 36 of 264, so that 57 % of the places are used; without it: a grid of "
           "264 or 528\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  const auto json = profileJson(measuredProfile());
  EXPECT_DOUBLE_EQ(json["of_bandwidth"], 0.5);
  EXPECT_DOUBLE_EQ(json["of_peak"], 0.05);
  EXPECT_DOUBLE_EQ(json["bytes_per_second"], 2e12);
  EXPECT_EQ(json["waves"]["grids_without_tail"], (nlohmann::ordered_json{264, 528}));
  EXPECT_EQ(json["occupancy"]["limited_by"], "registers and shared memory");
}

TEST(ProfileReport, WithoutDescriptorOrTail) {
  CaseProfile profile = measuredProfile();
  profile.chip.reset();
  profile.grid = {264, 2, 1};
  const std::string text = profileText(profile);
  EXPECT_NE(text.find("  bandwidth  2000 GB/s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("--chip with the device's descriptor"), std::string::npos) << text;
  EXPECT_NE(text.find("  waves      2.00: 528 programs"), std::string::npos) << text;
  EXPECT_EQ(text.find("the last one"), std::string::npos) << text;
  EXPECT_FALSE(profileJson(profile).contains("of_bandwidth"));
}

TEST(ProfileReport, OfWhatDoesNotRun) {
  CaseProfile profile = measuredProfile();
  profile.measured->failure = "out is wrong";
  profile.occupation.programs = 0;
  const std::string text = profileText(profile);
  EXPECT_NE(text.find("  time       none: FAILED: out is wrong\n"), std::string::npos) << text;
  EXPECT_NE(text.find("none, a program does not fit into a processor"), std::string::npos) << text;
  EXPECT_FALSE(profileJson(profile).contains("bytes_per_second"));
}

} // namespace
} // namespace nereid::bench
