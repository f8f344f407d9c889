// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/results/SystemState.h"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

namespace nereid::measure {

namespace {

/// The first number of a file; nothing where it is missing, unreadable or no number ("max").
std::optional<double> numberIn(const std::string &path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> bytesIn(const std::string &path) {
  constexpr double most = 1e18; // what version 1 of control groups calls unlimited is above
  const auto value = numberIn(path);
  return value && *value < most ? std::optional(static_cast<int64_t>(*value)) : std::nullopt;
}

/// "MemTotal:   8123 kB".
std::optional<int64_t> totalMemory(const std::string &root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string key;
    double kibibytes = 0;
    if (fields >> key >> kibibytes && key == "MemTotal:" && kibibytes > 0) {
      return static_cast<int64_t>(kibibytes * 1024);
    }
  }
  return std::nullopt;
}

/// "cpu MHz : 2595.124" of every processor, where the frequency driver says nothing.
std::vector<double> clocksOfCpuInfo(const std::string &root) {
  std::vector<double> clocks;
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with("cpu MHz") || colon == std::string::npos) {
      continue;
    }
    std::istringstream field(line.substr(colon + 1));
    double megahertz = 0;
    if (field >> megahertz && megahertz > 0) {
      clocks.push_back(megahertz);
    }
  }
  return clocks;
}

void readFrequencies(const std::string &root, SystemState &state) {
  std::set<std::string> governors;
  constexpr int mostProcessors = 4096;
  for (int i = 0; i < mostProcessors; ++i) {
    const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu{}/cpufreq/", root, i);
    const auto now = numberIn(folder + "scaling_cur_freq"),
               most = numberIn(folder + "cpuinfo_max_freq");
    std::ifstream file(folder + "scaling_governor");
    std::string governor;
    const bool hasGovernor = static_cast<bool>(file >> governor);
    if (!now && !most && !hasGovernor) {
      break;
    }
    if (hasGovernor) {
      governors.insert(governor);
    }
    if (now && *now > 0) {
      state.clocksMegahertz.push_back(*now / 1e3);
    }
    if (most && *most > 0) {
      state.highestMegahertz = std::max(state.highestMegahertz.value_or(0), *most / 1e3);
    }
  }
  if (!governors.empty()) {
    state.governor = fmt::format("{}", fmt::join(governors, ", "));
  }
  if (state.clocksMegahertz.empty()) {
    state.clocksMegahertz = clocksOfCpuInfo(root);
  }
}

} // namespace

SystemState readSystemState(const std::string &root) {
  SystemState state;
  state.loadAverage = numberIn(root + "/proc/loadavg");
  state.memoryBytes = totalMemory(root);
  state.memoryLimitBytes = bytesIn(root + "/sys/fs/cgroup/memory.max");
  if (!state.memoryLimitBytes) {
    state.memoryLimitBytes = bytesIn(root + "/sys/fs/cgroup/memory/memory.limit_in_bytes");
  }
  readFrequencies(root, state);
  return state;
}

std::optional<ProcessorTimes> readProcessorTimes(const std::string &root) {
  std::ifstream file(root + "/proc/stat");
  std::string name;
  // user, nice, system, idle, waiting for devices, interrupts, soft interrupts, stolen
  double fields[8] = {};
  if (!(file >> name) || name != "cpu") {
    return std::nullopt;
  }
  for (double &field : fields) {
    if (!(file >> field) || field < 0) {
      return std::nullopt;
    }
  }
  ProcessorTimes times;
  times.stolen = fields[7];
  times.busy = fields[0] + fields[1] + fields[2] + fields[5] + fields[6];
  times.total = times.busy + times.stolen + fields[3] + fields[4];
  return times;
}

} // namespace nereid::measure
