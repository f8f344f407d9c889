// SPDX-License-Identifier: Apache-2.0
// What the system says, from files made here: everything, nothing, and nonsense.
#include "lib/measure/results/Environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace nereid::measure;
namespace fs = std::filesystem;

namespace {

/// A folder in place of /.
class Root {
public:
  Root() : path(fs::path(testing::TempDir()) / ("root_" + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Root() { fs::remove_all(path); }
  void write(const std::string &name, const std::string &text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  std::string text() const { return path.string(); }

private:
  fs::path path;
};

} // namespace

TEST(SystemState, ReadsWhatIsThere) {
  Root root;
  root.write("proc/loadavg", "1.25 0.5 0.25 1/100 7\n");
  root.write("proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\n");
  root.write("sys/fs/cgroup/memory.max", "1048576\n");
  for (int i = 0; i < 2; ++i) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(i) + "/cpufreq/";
    root.write(folder + "scaling_cur_freq", i == 0 ? "1500000\n" : "3000000\n");
    root.write(folder + "cpuinfo_max_freq", "4000000\n");
    root.write(folder + "scaling_governor", i == 0 ? "powersave\n" : "performance\n");
  }
  const SystemState state = readSystemState(root.text());
  EXPECT_EQ(state.loadAverage, 1.25);
  EXPECT_EQ(state.memoryBytes, 2048 * 1024);
  EXPECT_EQ(state.memoryLimitBytes, 1048576);
  EXPECT_EQ(state.clocksMegahertz, (std::vector<double>{1500, 3000}));
  EXPECT_EQ(state.highestMegahertz, 4000);
  EXPECT_EQ(state.governor, "performance, powersave");
}

TEST(SystemState, WithoutAFrequencyDriverTheClockIsThatOfCpuInfo) {
  Root root;
  root.write("proc/cpuinfo", "model name\t: x\ncpu MHz\t\t: 2595.124\n\ncpu MHz\t\t: 2600\n");
  const SystemState state = readSystemState(root.text());
  EXPECT_EQ(state.clocksMegahertz, (std::vector<double>{2595.124, 2600}));
  EXPECT_FALSE(state.governor);
}

TEST(SystemState, WhatIsNotThereOrNonsenseStaysEmpty) {
  Root root;
  for (bool hasNonsense : {false, true}) {
    if (hasNonsense) {
      for (const char *name :
           {"proc/loadavg", "proc/meminfo", "proc/cpuinfo", "proc/stat", "sys/fs/cgroup/memory.max",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"}) {
        root.write(name, "max\n: -1\n");
      }
    }
    const SystemState state = readSystemState(root.text());
    EXPECT_FALSE(state.loadAverage || state.memoryBytes || state.memoryLimitBytes ||
                 state.highestMegahertz || state.governor);
    EXPECT_TRUE(state.clocksMegahertz.empty());
    EXPECT_FALSE(readProcessorTimes(root.text()));
    Environment environment;
    environment.state = state;
    const auto json = nlohmann::json::parse(toJson(environment));
    for (const char *key :
         {"load_average", "memory_bytes", "memory_limit_bytes", "governor", "copy_bandwidth"}) {
      EXPECT_TRUE(json.at(key).is_null()) << key;
    }
    EXPECT_TRUE(json.at("clock_megahertz").at("minimum").is_null());
  }
}

TEST(SystemState, ProcessorTimesCountWhatOthersTook) {
  Root root;
  root.write("proc/stat", "cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
  const auto times = readProcessorTimes(root.text());
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, 10 + 20 + 30 + 6 + 7);
  EXPECT_EQ(times->stolen, 8);
  EXPECT_EQ(times->total, 73 + 8 + 450);
}
