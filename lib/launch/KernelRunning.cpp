// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/KernelRunning.h"

#include "lib/launch/DeviceArguments.h"

#include <atomic>

namespace nereid::launch {

static std::atomic<int> runningKernels{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

KernelRunning::KernelRunning() { ++runningKernels; }
KernelRunning::~KernelRunning() { --runningKernels; }

bool isKernelRunning() { return runningKernels.load() > 0; }

runtime::LaunchError launchHere(const runtime::Kernel &kernel, runtime::Grid grid,
                                std::span<const runtime::ArgumentValue> arguments,
                                runtime::ThreadPool &pool, runtime::ProgramOrder order) {
  const KernelRunning running;
  runtime::Device *device = runtime::otherDevice(kernel);
  if (!device) {
    return runtime::launch(kernel, grid, arguments, pool, order);
  }
  auto made = DeviceArguments::make(*device, arguments);
  if (const auto *error = std::get_if<runtime::LaunchError>(&made)) {
    return *error;
  }
  const DeviceArguments &placed = std::get<DeviceArguments>(made);
  if (runtime::LaunchError error = placed.send()) {
    return error;
  }
  // What a failed launch has written is brought back as well, as it is there on the CPU.
  runtime::LaunchError failed = runtime::launch(kernel, grid, placed.values(), pool, order);
  runtime::LaunchError error = placed.fetch();
  return failed ? failed : error;
}

} // namespace nereid::launch
