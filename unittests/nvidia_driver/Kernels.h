// SPDX-License-Identifier: Apache-2.0
// Kernels for the tests, as PTX: the real driver compiles them, and the fake one knows them by
// their names (fake/Kernels.cpp). launch_test.cpp says what each has to do, to both.
#pragma once

namespace nereid::nvidia::test {

inline constexpr const char *kernelsPtx = R"ptx(
.version 8.0
.target sm_80
.address_size 64

.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 16 .b8 nereid_failure[256];

// x[i] += scalar, for i < n; one element for each thread
.visible .entry add_scalar(.param .u64 x, .param .f32 scalar, .param .u32 n)
{
  .reg .pred %past;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ge.u32 %past, %r4, %r5;
  @%past ret;
  ld.param.u64 %d1, [x];
  ld.param.f32 %f1, [scalar];
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d3, %d1, %d2;
  ld.global.f32 %f2, [%d3];
  add.f32 %f3, %f2, %f1;
  st.global.f32 [%d3], %f3;
  ret;
}

// out[linear program id] = id 0 | id 1 << 8 | id 2 << 16
.visible .entry write_ids(.param .u64 out)
{
  .reg .b32 %r<12>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mov.u32 %r3, %ctaid.z;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %nctaid.y;
  mad.lo.u32 %r6, %r3, %r5, %r2;
  mad.lo.u32 %r7, %r6, %r4, %r1;
  shl.b32 %r8, %r2, 8;
  shl.b32 %r9, %r3, 16;
  or.b32 %r10, %r1, %r8;
  or.b32 %r11, %r10, %r9;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r7, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r11;
  ret;
}

// out[0] = the threads of a program, by way of dynamic shared memory at this offset in bytes
.visible .entry use_shared(.param .u64 out, .param .u32 offset)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<2>;
  mov.u32 %r1, %ntid.x;
  ld.param.u32 %r2, [offset];
  mov.u32 %r3, dynamic;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  ld.shared.u32 %r5, [%r4];
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d1, %d1;
  st.global.u32 [%d1], %r5;
  ret;
}

// of at most 64 threads, with static shared memory
.visible .entry narrow() .maxntid 64, 1, 1
{
  .shared .align 4 .b8 fixed[1024];
  .reg .b32 %r<2>;
  mov.u32 %r1, fixed;
  st.volatile.shared.u32 [%r1], %r1;
  ret;
}

// the record of a failed assertion, where the number is 1
.visible .entry assert_not_one(.param .u32 number)
{
  .reg .pred %good;
  .reg .b32 %r<3>;
  .reg .b64 %d<2>;
  ld.param.u32 %r1, [number];
  setp.ne.u32 %good, %r1, 1;
  @%good ret;
  mov.u64 %d1, nereid_failure;
  cvta.global.u64 %d1, %d1;
  mov.u32 %r2, 7;
  st.u32 [%d1], %r1;
  st.u32 [%d1+8], %r2;
  mov.u32 %r2, 0x736e6f;
  st.u32 [%d1+16], %r2;
  ret;
}

// writes where no memory is
.visible .entry fault()
{
  .reg .b64 %d<2>;
  mov.u64 %d1, 16;
  st.global.u64 [%d1], %d1;
  ret;
}
)ptx";

} // namespace nereid::nvidia::test
