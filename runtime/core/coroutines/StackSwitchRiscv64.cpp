// SPDX-License-Identifier: Apache-2.0
// A suspended stack holds ra, s0 to s11 and fs0 to fs11, which calls preserve (RISC-V calling
// convention; vector registers are the caller's).
#include "runtime/core/coroutines/StackSwitch.h"

#if NEREID_OWN_STACK_SWITCH && defined(__riscv)

asm(R"(
  .text
  .p2align 4
  .globl nereid_switch_stack
  .hidden nereid_switch_stack
  .type nereid_switch_stack, @function
nereid_switch_stack:
  .cfi_startproc
  addi sp, sp, -208
  sd ra, 0(sp)
  sd s0, 8(sp)
  sd s1, 16(sp)
  sd s2, 24(sp)
  sd s3, 32(sp)
  sd s4, 40(sp)
  sd s5, 48(sp)
  sd s6, 56(sp)
  sd s7, 64(sp)
  sd s8, 72(sp)
  sd s9, 80(sp)
  sd s10, 88(sp)
  sd s11, 96(sp)
  fsd fs0, 104(sp)
  fsd fs1, 112(sp)
  fsd fs2, 120(sp)
  fsd fs3, 128(sp)
  fsd fs4, 136(sp)
  fsd fs5, 144(sp)
  fsd fs6, 152(sp)
  fsd fs7, 160(sp)
  fsd fs8, 168(sp)
  fsd fs9, 176(sp)
  fsd fs10, 184(sp)
  fsd fs11, 192(sp)
  sd sp, 0(a0)
  mv sp, a1
  ld ra, 0(sp)
  ld s0, 8(sp)
  ld s1, 16(sp)
  ld s2, 24(sp)
  ld s3, 32(sp)
  ld s4, 40(sp)
  ld s5, 48(sp)
  ld s6, 56(sp)
  ld s7, 64(sp)
  ld s8, 72(sp)
  ld s9, 80(sp)
  ld s10, 88(sp)
  ld s11, 96(sp)
  fld fs0, 104(sp)
  fld fs1, 112(sp)
  fld fs2, 120(sp)
  fld fs3, 128(sp)
  fld fs4, 136(sp)
  fld fs5, 144(sp)
  fld fs6, 152(sp)
  fld fs7, 160(sp)
  fld fs8, 168(sp)
  fld fs9, 176(sp)
  fld fs10, 184(sp)
  fld fs11, 192(sp)
  addi sp, sp, 208
  ret
  .cfi_endproc
  .size nereid_switch_stack, .-nereid_switch_stack

  .p2align 4
  .globl nereid_start_stack
  .hidden nereid_start_stack
  .type nereid_start_stack, @function
nereid_start_stack:
  .cfi_startproc
  .cfi_undefined ra
  mv a0, s1
  jalr s2
  ebreak
  .cfi_endproc
  .size nereid_start_stack, .-nereid_start_stack
)");

namespace nereid::runtime {

void *freshStack(uint8_t *bottom, size_t bytes, void (*entry)(void *), void *argument) {
  const uintptr_t end = reinterpret_cast<uintptr_t>(bottom + bytes) & ~uintptr_t{15};
  void **top = reinterpret_cast<void **>(end) - 26;
  for (int i = 0; i < 26; ++i) {
    top[i] = nullptr; // s0 among them: the end of the chain of frames
  }
  top[0] = reinterpret_cast<void *>(&nereid_start_stack); // ra
  top[2] = argument;                                      // s1
  top[3] = reinterpret_cast<void *>(entry);               // s2
  return top;
}

} // namespace nereid::runtime

#endif
