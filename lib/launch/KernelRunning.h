// SPDX-License-Identifier: Apache-2.0
// Marks the time in which a user's compiled kernel runs in this process: a hardware fault belongs
// to the kernel then, and to nereid otherwise.
#pragma once

#include "runtime/Kernel.h"

#include <span>

namespace nereid::launch {

/// While one lives, in any thread, a kernel runs.
class KernelRunning {
public:
  KernelRunning();
  ~KernelRunning();
  KernelRunning(const KernelRunning &) = delete;
  KernelRunning &operator=(const KernelRunning &) = delete;
};

/// Safe to call from a signal handler.
bool isKernelRunning();

/// runtime::launch of a user's kernel, which runs meanwhile. For a kernel of another device than
/// the CPU, tensors in host memory are copied there and back.
runtime::LaunchError launchHere(const runtime::Kernel &kernel, runtime::Grid grid,
                                std::span<const runtime::ArgumentValue> arguments,
                                runtime::ThreadPool &pool,
                                runtime::ProgramOrder order = runtime::ProgramOrder::Ascending);

} // namespace nereid::launch
