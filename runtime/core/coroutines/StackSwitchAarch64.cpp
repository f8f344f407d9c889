// SPDX-License-Identifier: Apache-2.0
// A suspended stack holds x19 to x30 and d8 to d15, which calls preserve (Procedure Call Standard
// for the Arm 64-bit Architecture, section 6.1; SVE registers are the caller's beyond those bits).
#include "runtime/core/coroutines/StackSwitch.h"

#if NEREID_OWN_STACK_SWITCH && defined(__aarch64__)

asm(R"(
  .text
  .p2align 4
  .globl nereid_switch_stack
  .hidden nereid_switch_stack
  .type nereid_switch_stack, @function
nereid_switch_stack:
  .cfi_startproc
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .cfi_endproc
  .size nereid_switch_stack, .-nereid_switch_stack

  .p2align 4
  .globl nereid_start_stack
  .hidden nereid_start_stack
  .type nereid_start_stack, @function
nereid_start_stack:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x19
  blr x20
  brk #0
  .cfi_endproc
  .size nereid_start_stack, .-nereid_start_stack
)");

namespace nereid::runtime {

void *freshStack(uint8_t *bottom, size_t bytes, void (*entry)(void *), void *argument) {
  const uintptr_t end = reinterpret_cast<uintptr_t>(bottom + bytes) & ~uintptr_t{15};
  void **top = reinterpret_cast<void **>(end) - 20;
  for (int i = 0; i < 20; ++i) {
    top[i] = nullptr; // x29 among them: the end of the chain of frames
  }
  top[0] = argument;                                       // x19
  top[1] = reinterpret_cast<void *>(entry);                // x20
  top[11] = reinterpret_cast<void *>(&nereid_start_stack); // x30
  return top;
}

} // namespace nereid::runtime

#endif
