// SPDX-License-Identifier: Apache-2.0
// What every architecture shares, and ucontext where StackSwitch.h has none. A suspended stack
// holds the callee-saved registers and the address to go on at; a fresh one is laid out the same
// way, with the entry and its argument in two of the registers.
#include "runtime/core/coroutines/ContextSwitch.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NEREID_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define NEREID_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define NEREID_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define NEREID_TSAN 1
#endif

#if NEREID_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if NEREID_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace nereid::runtime {
namespace {

/// Before leaving `from` for good or for a while.
void announceSwitch([[maybe_unused]] StackContext &from, [[maybe_unused]] StackContext &to,
                    [[maybe_unused]] bool isForGood) {
#if NEREID_ASAN
  __sanitizer_start_switch_fiber(isForGood ? nullptr : &from.sanitizerState, to.stackBottom,
                                 to.stackBytes);
#endif
#if NEREID_TSAN
  if (!from.sanitizerState) {
    from.sanitizerState = __tsan_get_current_fiber();
  }
  __tsan_switch_to_fiber(to.sanitizerState, 0);
#endif
}

/// On the stack of `to`, right after it was continued from `from`.
void finishSwitch([[maybe_unused]] StackContext &from, [[maybe_unused]] StackContext &to) {
#if NEREID_ASAN
  const void *bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(to.sanitizerState, &bottom, &bytes);
  from.stackBottom = bottom;
  from.stackBytes = bytes;
#endif
}

/// Who switched to the stack that is running now; set before every switch.
thread_local StackContext *switchedFrom = nullptr;

#if !NEREID_OWN_STACK_SWITCH
/// makecontext passes integers only.
void startContext(uint32_t high, uint32_t low) {
  auto *context = reinterpret_cast<StackContext *>(uintptr_t{high} << 32 | low);
  context->entry(context->argument);
}
#endif

} // namespace

void prepareContext(StackContext &context, uint8_t *stackBottom, size_t stackBytes,
                    void (*entry)(void *), void *argument) {
  context.stackBottom = stackBottom;
  context.stackBytes = stackBytes;
  context.sanitizerState = nullptr;
#if NEREID_TSAN
  context.sanitizerState = __tsan_create_fiber(0);
#endif
#if NEREID_OWN_STACK_SWITCH
  context.stackPointer = freshStack(stackBottom, stackBytes, entry, argument);
#else
  getcontext(&context.machine);
  context.machine.uc_stack.ss_sp = stackBottom;
  context.machine.uc_stack.ss_size = stackBytes;
  context.machine.uc_link = nullptr;
  context.entry = entry;
  context.argument = argument;
  const auto address = reinterpret_cast<uintptr_t>(&context);
  makecontext(&context.machine, reinterpret_cast<void (*)()>(&startContext), 2,
              static_cast<uint32_t>(address >> 32), static_cast<uint32_t>(address));
#endif
}

namespace {

/// Comes back when `from` is continued.
void jump(StackContext &from, StackContext &to, bool isForGood) {
  switchedFrom = &from;
  announceSwitch(from, to, isForGood);
#if NEREID_OWN_STACK_SWITCH
  nereid_switch_stack(&from.stackPointer, to.stackPointer);
#else
  swapcontext(&from.machine, &to.machine);
#endif
}

} // namespace

void switchContext(StackContext &from, StackContext &to) {
  jump(from, to, false);
  finishSwitch(*switchedFrom, from);
}

void leaveContext(StackContext &from, StackContext &to) {
  jump(from, to, true);
  __builtin_trap(); // nobody continues a context that was left
}

void enteredContext(StackContext &own, StackContext &from) { finishSwitch(from, own); }

void dropContext([[maybe_unused]] StackContext &context) {
#if NEREID_ASAN
  __asan_unpoison_memory_region(context.stackBottom, context.stackBytes);
#endif
#if NEREID_TSAN
  if (context.sanitizerState) {
    __tsan_destroy_fiber(context.sanitizerState);
    context.sanitizerState = nullptr;
  }
#endif
}

} // namespace nereid::runtime
