// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/PeakMemory.h"

#include <fstream>
#include <string>

namespace nereid::measure {

/// A line of /proc/self/status in bytes, as "VmHWM:    1764 kB".
static std::optional<uint64_t> statusBytes(const std::string &key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) {
      return std::stoull(line.substr(key.size() + 1)) * 1024;
    }
  }
  return std::nullopt;
}

static bool resetHighWaterMark() {
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;
  return reset.good();
}

std::optional<uint64_t> peakGrowth(const std::function<void()> &run) {
  const bool isReset = resetHighWaterMark();
  const std::optional<uint64_t> before = statusBytes("VmRSS");
  run();
  const std::optional<uint64_t> highest = statusBytes("VmHWM");
  if (!isReset || !before || !highest) {
    return std::nullopt;
  }
  return *highest > *before ? *highest - *before : 0;
}

} // namespace nereid::measure
