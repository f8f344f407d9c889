// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/KernelRunning.h"

#include <atomic>

namespace nereid::launch {

static std::atomic<int> runningKernels{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

KernelRunning::KernelRunning() { ++runningKernels; }
KernelRunning::~KernelRunning() { --runningKernels; }

bool isKernelRunning() { return runningKernels.load() > 0; }

} // namespace nereid::launch
