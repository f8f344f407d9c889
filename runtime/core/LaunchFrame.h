// SPDX-License-Identifier: Apache-2.0
// What a running launch and the functions its programs call back share: the first failed device
// assertion, the way out of the program instance that failed, and where its lines go. Shared by
// both runtimes; no C++ library.
#pragma once

#include "runtime/core/PrivatisedAtomics.h"

#include <atomic>
#include <csetjmp>
#include <cstdint>

namespace nereid::runtime {

/// One per launch, shared by all threads that work on it.
struct LaunchFailure {
  /// 0 or 1. No bool: exchanging bytes needs a library of its own on some machines.
  std::atomic<int> hasFailed{0};
  const char *message = nullptr; ///< in the code; written by the one thread that set hasFailed
  int32_t id[3] = {0, 0, 0};
};

/// Takes the lines that programs print.
struct LinePrinter {
  void (*print)(void *context, const char *line);
  void *context;
};

/// One per thread and stretch of programs, or per coroutine. Generated code has no destructors, so
/// leaving it by longjmp skips none.
struct LaunchFrame {
  LaunchFailure *failure;
  std::jmp_buf exit;
  /// Of a coroutine: leaves its stack for good, instead of the jump.
  void (*leaveStack)() = nullptr;
  PrivatisedList *privatised = nullptr; ///< the launch's; null = none are
  int worker = 0;
  const LinePrinter *printer = nullptr; ///< null = standard output
};

/// The frame of the program running on this thread, or null.
extern constinit thread_local LaunchFrame *currentLaunchFrame;

} // namespace nereid::runtime
