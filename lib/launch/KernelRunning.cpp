// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/KernelRunning.h"

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
  return runtime::launch(kernel, grid, arguments, pool, order);
}

} // namespace nereid::launch
