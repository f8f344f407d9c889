// SPDX-License-Identifier: Apache-2.0
// Measures what a device can do, with kernels of our own that do next to nothing else: moving
// memory, multiply-adds in registers, products of matrices, launches. Each is timed by the device's
// events, the best of several runs counts, and what it leaves is compared with what it must leave.
// The processor that the program runs on has measure/peaks/Calibrate.h.
#pragma once

#include "lib/machine/Machine.h"
#include "runtime/Device.h"

#include <functional>
#include <string>

namespace nereid::bench {

struct CalibrationOptions {
  std::string target;                     ///< the device's: kernels are compiled for it
  int64_t memoryBytes = int64_t{1} << 30; ///< of each of two buffers, far beyond the caches
  int64_t rounds = 4096;                  ///< of multiply-adds in one launch
  int repeats = 7;                        ///< of each figure
  std::function<void(const std::string &)> progress = [](const std::string &) {};
};

/// The device's descriptor with the rates that were measured now. E0506 without memory for the
/// buffers, what the device says, E0705 where a kernel has not left what it must.
Result<Machine> calibrateDevice(runtime::Device &device, const CalibrationOptions &options);

} // namespace nereid::bench
