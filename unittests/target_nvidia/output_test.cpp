// SPDX-License-Identifier: Apache-2.0
// Printing, assertions, inline assembly, and helpers with a call of their own.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::nvidia;

TEST(NvidiaOutput, LinesArePrintedAsOnOtherTargets) {
  const std::string ptx = ptxOfText(R"(
@triton.jit
def k(x):
    offs = tl.arange(0, 4)[:, None] * 32 + tl.arange(0, 32)[None, :]
    tl.device_print("x 5%: ", tl.load(x + offs))
    tl.device_print("id", tl.program_id(0), hex=True)
    tl.device_print("here")
)",
                                    "x=*fp16");
  EXPECT_GE(countOf(ptx, "vprintf,"), 3);
  // "pid (%d, %d, %d) idx (%1d, %2d) x 5%%: %f", by its codes
  auto codes = [](const std::string &text) {
    std::string list;
    for (char c : text) {
      list += (list.empty() ? "" : ", ") + std::to_string(static_cast<int>(c));
    }
    return list;
  };
  EXPECT_EQ(countOf(ptx, codes("pid (%d, %d, %d) idx (%1d, %2d) x 5%%: %f\n")), 1) << ptx;
  EXPECT_EQ(countOf(ptx, codes("pid (%d, %d, %d) idx () id: 0x%08llx\n")), 1) << ptx;
  EXPECT_EQ(countOf(ptx, codes("pid (%d, %d, %d) here\n")), 1) << ptx;
}

TEST(NvidiaOutput, AFailedAssertionLeavesARecordAndEndsTheProgram) {
  const std::string text = R"(
@triton.jit
def k(x):
    value = tl.load(x + tl.arange(0, 256))
    tl.device_assert(value > 0, "must be positive")
    tl.store(x + tl.arange(0, 256), value)
)";
  const std::string ptx = ptxOfText(text, "x=*fp32");
  EXPECT_EQ(countOf(ptx, ".visible .global .align 16 .b8 nereid_failure[256]"), 1) << ptx;
  EXPECT_EQ(countOf(ptx, "atom.relaxed.gpu.global.cas.b32"), 1);
  EXPECT_EQ(countOf(ptx, "bar.red.or.pred"), 1);
  EXPECT_EQ(countOf(ptx, "exit;"), 1);
  EXPECT_EQ(countOf(ptxOf("vector_add/vector_add.py", "x=*fp32, y=*fp32, out=*fp32, n=i32, "
                                                      "BLOCK=1024"),
                    "nereid_failure"),
            0);
}

TEST(NvidiaOutput, AssemblyTakesElementsAndPacks) {
  const std::string one = ptxOfText(R"(
@triton.jit
def k(x, y):
    offs = tl.arange(0, 128)
    out = tl.inline_asm_elementwise("ex2.approx.f32 $0, $1;", "=f,f", [tl.load(x + offs)],
                                    dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y + offs, out)
)",
                                    "x=*fp32, y=*fp32");
  EXPECT_EQ(countOf(one, "ex2.approx.f32"), 1);
  const std::string packed = ptxOfText(R"(
@triton.jit
def k(x, y, z):
    offs = tl.arange(0, 512)
    low, high = tl.inline_asm_elementwise("add.u32 $0, $2, $3; sub.u32 $1, $2, $3;",
                                          "=&r,=r,r,r", [tl.load(x + offs), tl.load(y + offs)],
                                          dtype=(tl.int8, tl.int8), is_pure=True, pack=4)
    tl.store(z + offs, low + high)
)",
                                       "x=*i8:16, y=*i8:16, z=*i8:16");
  EXPECT_EQ(countOf(packed, "add.u32 "), 1) << packed;
}

TEST(NvidiaOutput, AssemblyTakesNumbersAndGivesHalves) {
  const std::string ptx = ptxOfText(R"(
@triton.jit
def k(x, y):
    offs = tl.arange(0, 128)
    low, high = tl.inline_asm_elementwise("""{ .reg .b32 t; lop3.b32 t, $2, $3, 234, 0;
        mov.b32 {$0, $1}, t; }""", "=h,=h,r,n", [tl.load(x + offs), 983055],
                                          dtype=(tl.float16, tl.float16), is_pure=True, pack=1)
    both = tl.join(low, high)
    tl.store(y + offs[:, None] * 2 + tl.arange(0, 2)[None, :], both)
)",
                                    "x=*i32:16, y=*fp16:16");
  EXPECT_NE(ptx.find(", 983055, 234, 0;"), std::string::npos) << ptx;
}

TEST(NvidiaOutput, HelpersWithACallOfTheirOwnAreExpanded) {
  const std::string ptx = ptxOfText(R"(
@triton.jit(noinline=True)
def helper(a):
    return a * 3 + 1

@triton.jit
def k(x, n):
    tl.store(x, helper(n))
)",
                                    "x=*i32, n=i32");
  EXPECT_EQ(countOf(ptx, "call"), 0);
}
