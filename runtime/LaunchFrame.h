// SPDX-License-Identifier: Apache-2.0
// What a running launch and the functions its programs call back share: the first failed device
// assertion and the way out of the program instance that failed; and what a launch says then.
// Private to the runtime.
#pragma once

#include "runtime/DeferredAdditions.h"
#include "runtime/Kernel.h"

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <string>

namespace nereid::runtime {

/// One per launch, shared by all threads that work on it.
struct LaunchFailure {
  std::atomic<bool> hasFailed{false};
  std::string message; ///< written by the one thread that set hasFailed
  int32_t id[3] = {0, 0, 0};
};

/// One per thread and stretch of programs, or per coroutine. Generated code has no destructors, so
/// leaving it by longjmp skips none.
struct LaunchFrame {
  LaunchFailure *failure;
  std::jmp_buf exit;
  /// Of a coroutine: leaves its stack for good, instead of the jump.
  void (*leaveStack)() = nullptr;
  DeferredList *deferred = nullptr; ///< the launch's; null = additions are not deferred
  int worker = 0;
};

/// The frame of the program running on this thread, or null.
LaunchFrame *&currentLaunchFrame();

/// E0407 when an assertion failed, else nothing.
LaunchError assertionError(const Kernel &kernel, const LaunchFailure &failure);
/// E0505.
LaunchError outOfScratch(const Kernel &kernel);

} // namespace nereid::runtime
