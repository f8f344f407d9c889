// SPDX-License-Identifier: Apache-2.0
// Leaving one stack and going on with another, within one thread: an own few instructions where
// StackSwitch.h has them, the C library's ucontext elsewhere. The floating-point control words are
// not switched: they belong to the thread, and kernels do not change them. The sanitizers are told
// of every switch.
#pragma once

#include "runtime/core/coroutines/StackSwitch.h"

#include <cstddef>
#include <cstdint>

#if !NEREID_OWN_STACK_SWITCH
#include <ucontext.h>
#endif

namespace nereid::runtime {

/// A stack and where its code goes on. Not moved while in use.
struct StackContext {
#if NEREID_OWN_STACK_SWITCH
  void *stackPointer = nullptr;
#else
  ucontext_t machine;
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
#endif
  const void *stackBottom = nullptr; ///< null for the thread's own stack until it is first left
  size_t stackBytes = 0;
  void *sanitizerState = nullptr;
};

/// The first switch to `context` calls entry(argument) on the given stack; entry must not return.
void prepareContext(StackContext &context, uint8_t *stackBottom, size_t stackBytes,
                    void (*entry)(void *), void *argument);
/// Saves where this is in `from` and goes on with `to`; comes back with the switch to `from`.
void switchContext(StackContext &from, StackContext &to);
/// The same for good: nothing comes back to `from`, whose stack may then be freed.
[[noreturn]] void leaveContext(StackContext &from, StackContext &to);
/// To be called first by `entry`, with the context that switched to it.
void enteredContext(StackContext &own, StackContext &from);
/// A prepared context that will not be continued.
void dropContext(StackContext &context);

} // namespace nereid::runtime
