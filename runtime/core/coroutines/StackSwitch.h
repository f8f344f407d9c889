// SPDX-License-Identifier: Apache-2.0
// The few instructions of ContextSwitch that each architecture writes for itself, in a file of its
// own: StackSwitchX86.cpp and so on. NEREID_USE_UCONTEXT builds without them.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(NEREID_USE_UCONTEXT) &&                                                               \
    (defined(__x86_64__) || defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64))
#define NEREID_OWN_STACK_SWITCH 1
#else
#define NEREID_OWN_STACK_SWITCH 0
#endif

#if NEREID_OWN_STACK_SWITCH
extern "C" {
/// Saves the registers that a call preserves on this stack and the stack pointer in *saved; goes on
/// with the stack `next`.
void nereid_switch_stack(void **saved, void *next) __attribute__((visibility("hidden")));
/// Where a fresh stack begins.
void nereid_start_stack() __attribute__((visibility("hidden")));
}

namespace nereid::runtime {

/// The stack pointer of a stack on which the first switch calls entry(argument).
void *freshStack(uint8_t *bottom, size_t bytes, void (*entry)(void *), void *argument);

} // namespace nereid::runtime
#endif
