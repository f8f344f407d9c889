// SPDX-License-Identifier: Apache-2.0
// What the operating system says of the machine at this moment: clocks, governor, load, memory, and
// who uses the processors. Containers hide much of it; what is not there stays empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::measure {

struct SystemState {
  std::optional<double> loadAverage;       ///< over the last minute
  std::optional<int64_t> memoryBytes;      ///< of the machine
  std::optional<int64_t> memoryLimitBytes; ///< of this process's control group
  std::vector<double> clocksMegahertz;     ///< of each processor now, where it is told
  std::optional<double> highestMegahertz;  ///< that the clock may reach
  std::optional<std::string> governor;     ///< "performance"; several: "performance, powersave"
};

/// `root` stands in front of /proc and /sys; tests bring their own.
SystemState readSystemState(const std::string &root = "");

/// What all processors together spent since the system began, in one unit of time.
struct ProcessorTimes {
  double busy = 0;   ///< with work of this system, ours included
  double stolen = 0; ///< wanted, and given to another guest
  double total = 0;
};
std::optional<ProcessorTimes> readProcessorTimes(const std::string &root = "");

} // namespace nereid::measure
