// SPDX-License-Identifier: Apache-2.0
// A suspended stack holds the six registers that calls preserve above the address to go on at
// (System V psABI, section 3.2.1).
#include "runtime/core/coroutines/StackSwitch.h"

#if NEREID_OWN_STACK_SWITCH && defined(__x86_64__)

asm(R"(
  .text
  .p2align 4
  .globl nereid_switch_stack
  .hidden nereid_switch_stack
  .type nereid_switch_stack, @function
nereid_switch_stack:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
  .cfi_endproc
  .size nereid_switch_stack, .-nereid_switch_stack

  .p2align 4
  .globl nereid_start_stack
  .hidden nereid_start_stack
  .type nereid_start_stack, @function
nereid_start_stack:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
  .size nereid_start_stack, .-nereid_start_stack
)");

namespace nereid::runtime {

void *freshStack(uint8_t *bottom, size_t bytes, void (*entry)(void *), void *argument) {
  const uintptr_t end = reinterpret_cast<uintptr_t>(bottom + bytes) & ~uintptr_t{15};
  // Seven words are popped: nereid_start_stack begins with a stack pointer divisible by 16.
  void **top = reinterpret_cast<void **>(end) - 9;
  top[0] = nullptr;                         // r15
  top[1] = nullptr;                         // r14
  top[2] = reinterpret_cast<void *>(entry); // r13
  top[3] = argument;                        // r12
  top[4] = nullptr;                         // rbx
  top[5] = nullptr;                         // rbp: the end of the chain of frames
  top[6] = reinterpret_cast<void *>(&nereid_start_stack);
  top[7] = nullptr;
  return top;
}

} // namespace nereid::runtime

#endif
