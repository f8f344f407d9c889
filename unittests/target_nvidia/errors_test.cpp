// SPDX-License-Identifier: Apache-2.0
// What the target refuses, with code, place and fix.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::nvidia;

TEST(NvidiaErrors, TooMuchSharedMemoryNamesTheOperation) { // E0501
  Diagnostics diags;
  EXPECT_FALSE(tryPtxOfText(R"(
@triton.jit
def k(x, y):
    offs = tl.arange(0, 1024)
    tl.store(y + tl.arange(0, 65536), tl.histogram(tl.load(x + offs), 65536))
)",
                            "x=*i32, y=*i32", diags));
  ASSERT_EQ(diags.all().size(), 1U) << diags.render();
  const Diagnostic &error = diags.all().front();
  EXPECT_EQ(error.code, "E0501");
  EXPECT_EQ(error.message,
            "a program needs 262144 bytes of shared memory here, but sm_90a has 232448");
  EXPECT_EQ(error.range.line, 7);
  EXPECT_EQ(error.help, "use smaller blocks");
}

TEST(NvidiaErrors, TooMuchSharedMemoryNamesTheNearestSizeThatFits) { // E0501
  Diagnostics diags;
  EXPECT_FALSE(tryPtxOfText(R"(
@triton.jit
def k(x, y, BINS: tl.constexpr):
    offs = tl.arange(0, 1024)
    tl.store(y + tl.arange(0, BINS), tl.histogram(tl.load(x + offs), BINS))
)",
                            "x=*i32, y=*i32, BINS=131072", diags));
  ASSERT_EQ(diags.all().size(), 1U) << diags.render();
  EXPECT_EQ(diags.all().front().code, "E0501");
  EXPECT_EQ(diags.all().front().help, "use smaller blocks: BINS=32768 fits");
}

TEST(NvidiaErrors, TilesThatNoRegistersHoldAreRefusedAtOnce) { // E0501
  const std::string kernel = R"(
@triton.jit
def k(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + tl.load(y + i))
)";
  const auto refused = [&](const std::string &sizes) {
    Diagnostics diags;
    EXPECT_FALSE(tryPtxOfText(kernel, "x=*fp32:16, y=*fp32:16, " + sizes, diags));
    EXPECT_EQ(diags.all().size(), 1U) << diags.render();
    return diags.all().empty() ? Diagnostic() : diags.all().front();
  };
  const Diagnostic error = refused("BLOCK=65536, num_warps=1");
  EXPECT_EQ(error.code, "E0501");
  EXPECT_EQ(error.message,
            "the tiles of this kernel need 4096 registers of a thread, but sm_90a has "
            "255, and code is made for 8 times as many at most");
  EXPECT_EQ(error.range.line, 7);
  ASSERT_EQ(error.notes.size(), 1U);
  EXPECT_NE(error.notes.front().find("2048 of"), std::string::npos) << error.notes.front();
  EXPECT_EQ(error.help, "smaller blocks, or more warps by num_warps, give a thread less to hold: "
                        "num_warps=4 fits");
  EXPECT_EQ(refused("BLOCK=1048576, num_warps=4").help,
            "smaller blocks, or more warps by num_warps, give a thread less to hold: "
            "BLOCK=65536 fits");
  EXPECT_NE(ptxOfText(kernel, "x=*fp32:16, y=*fp32:16, BLOCK=16384, num_warps=4"), "");
}

TEST(NvidiaErrors, ProductsThatNoRegistersHoldAreRefusedAtOnce) { // E0501
  const std::string kernel = R"(
@triton.jit
def k(x, y, z, M: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, M)[None, :]
    at = i * M + j
    tl.store(z + at, tl.dot(tl.load(x + at), tl.load(y + at), input_precision='ieee'))
)";
  for (const std::string type : {"fp32", "fp64"}) {
    Diagnostics diags;
    const std::string pointer = "=*" + type + ":16";
    EXPECT_FALSE(tryPtxOfText(
        kernel, "x" + pointer + ", y" + pointer + ", z" + pointer + ", M=512, num_warps=8", diags));
    ASSERT_EQ(diags.all().size(), 1U) << diags.render();
    EXPECT_EQ(diags.all().front().code, "E0501");
    EXPECT_NE(diags.all().front().help.find(" fits"), std::string::npos) << diags.render();
  }
}

TEST(NvidiaErrors, StagesThatSharedMemoryHasNoPlaceForNameTheNearestThatFit) { // E0501
  const std::string signature =
      "a=*fp16:16, b=*fp16:16, c=*fp16:16, M=i32:16, N=i32:16, K=i32:16, stride_am=i32:16, "
      "stride_ak=1, stride_bk=i32:16, stride_bn=1, stride_cm=i32:16, stride_cn=1, BLOCK_M=256, "
      "BLOCK_N=256, BLOCK_K=128, GROUP_M=8, num_warps=8, num_stages=";
  const auto refused = [&](const std::string &stages, const std::string &target) {
    Diagnostics diags;
    EXPECT_FALSE(tryPtxOfKernel("matmul/matmul_grouped.py", signature + stages, diags, target));
    EXPECT_EQ(diags.all().size(), 1U) << diags.render();
    return diags.all().empty() ? Diagnostic() : diags.all().front();
  };
  const Diagnostic error = refused("4", "nvidia:sm_90a");
  EXPECT_EQ(error.code, "E0501");
  EXPECT_EQ(error.message, "operands of products need 524288 bytes of shared memory for "
                           "num_stages=4, but sm_90a has 232448 and 231424 of them are left");
  EXPECT_EQ(error.notes, (std::vector<std::string>{
                             "bytes of each of the 4 stages: 65536 for 256x128xf16, 65536 for "
                             "128x256xf16",
                             "num_stages=2 is the most for these blocks"}));
  EXPECT_EQ(error.help, "use fewer stages or smaller blocks: BLOCK_K=64 fits");
  EXPECT_EQ(refused("3", "nvidia:sm_86").code, "E0501");
  // A slot less than stages is asked for by kernels that were written for upstream.
  EXPECT_NE(ptxOf("matmul/matmul_grouped.py", signature + "2"), "");
}

TEST(NvidiaErrors, AtomicsOnAddressesAreRefusedWithTheirPlace) { // E0301
  Diagnostics diags;
  EXPECT_FALSE(tryPtxOfTiles(R"(
func.func @k(%i: i64, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %x = tile.int_to_ptr %i : i64 -> !tile.ptr<!tile.ptr<f32>>
  %old = tile.atomic_rmw xchg %x, %y : !tile.ptr<!tile.ptr<f32>>, !tile.ptr<f32>
  return
})",
                             diags));
  ASSERT_EQ(diags.all().size(), 1U) << diags.render();
  const Diagnostic &error = diags.all().front();
  EXPECT_EQ(error.code, "E0301");
  EXPECT_EQ(error.message, "the nvidia target cannot compile 'tile.atomic_rmw': it has no atomic "
                           "operations on addresses");
  EXPECT_EQ(error.range.line, 4);
  EXPECT_EQ(error.help, "use 64-bit integers");
}

TEST(NvidiaErrors, OperationsWithoutCodeAreNamed) { // E0301
  Diagnostics diags;
  EXPECT_FALSE(tryPtxOfTiles(R"(
func.func @k(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %c = arith.constant 0 : index
  %d = arith.constant 4 : index
  %s = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c) to (%d) step (%s) {
    tile.store %x, %v : !tile.ptr<f32>, f32
    scf.reduce
  }
  return
})",
                             diags));
  ASSERT_EQ(diags.all().size(), 1U) << diags.render();
  EXPECT_EQ(diags.all().front().code, "E0301");
  EXPECT_EQ(diags.all().front().range.line, 7);
  EXPECT_EQ(diags.all().front().message,
            "the nvidia target cannot compile 'scf.parallel': it has no code for it");
}

TEST(NvidiaErrors, ConstraintsOfAssemblyFitItsRegisters) { // E0301
  auto messageOf = [](const std::string &constraints, const std::string &pack) {
    Diagnostics diags;
    EXPECT_FALSE(tryPtxOfText(R"(
@triton.jit
def k(x, y):
    offs = tl.arange(0, 512)
    out = tl.inline_asm_elementwise("mov.b32 $0, $1;", ")" +
                                  constraints + R"(", [tl.load(x + offs)],
                                    dtype=tl.int8, is_pure=True, pack=)" +
                                  pack + R"()
    tl.store(y + offs, out)
)",
                              "x=*i8, y=*i8", diags));
    EXPECT_EQ(diags.all().size(), 1U) << diags.render();
    EXPECT_EQ(diags.all().front().code, "E0301");
    EXPECT_EQ(diags.all().front().range.line, 7);
    EXPECT_NE(diags.all().front().help, "");
    return diags.all().front().message;
  };
  const std::string begin = "the nvidia target cannot compile 'tile.inline_asm': ";
  EXPECT_EQ(messageOf("=r,r", "3"), begin + "a pack has 3 elements");
  EXPECT_EQ(messageOf("=r,r,r", "4"),
            begin + "its constraints '=r,r,r' have 1 outputs and 2 inputs, but packs of 4 elements "
                    "take 1 and 1");
  EXPECT_EQ(messageOf("=r,r", "8"),
            begin + "its constraints '=r,r' have 1 outputs and 1 inputs, but packs of 8 elements "
                    "take 2 and 2");
  EXPECT_EQ(messageOf("=r,x", "4"), begin + "its constraints '=r,x' ask for what is none");
  EXPECT_EQ(messageOf("=r,*m", "4"), begin + "its constraints '=r,*m' ask for what is none");
  EXPECT_EQ(messageOf("=n,r", "4"), begin + "its constraints '=n,r' ask for what is none");
  EXPECT_EQ(messageOf("=r,n", "4"),
            begin + "its constraints '=r,n' have 'n' for a value that is no constant integer");
}

namespace {

/// What is said of a kernel of 128 numbers with this text, constraints and types.
std::string saidOf(const std::string &text, const std::string &constraints,
                   const std::string &operand = "i32", const std::string &result = "int32") {
  Diagnostics diags;
  const auto ptx =
      tryPtxOfText(R"(
@triton.jit
def k(x, y):
    offs = tl.arange(0, 128)
    out = tl.inline_asm_elementwise(")" +
                       text + "\", \"" + constraints + R"(", [tl.load(x + offs)],
                                    dtype=tl.)" +
                       result + R"(, is_pure=True, pack=1)
    tl.store(y + offs, out)
)",
                   "x=*" + operand + ", y=*" + (result == "int32" ? "i32" : "i64"), diags);
  EXPECT_EQ(ptx.has_value(), !diags.hasErrors());
  if (ptx) {
    return "";
  }
  EXPECT_EQ(diags.all().front().code, "E0301");
  EXPECT_EQ(diags.all().front().range.line, 7);
  const std::string begin = "the nvidia target cannot compile 'tile.inline_asm': ";
  EXPECT_EQ(diags.all().front().message.rfind(begin, 0), 0U);
  return diags.all().front().message.substr(begin.size());
}

} // namespace

TEST(NvidiaErrors, AssemblyThatNamesNoOperandDoesNotEndTheProcess) { // E0301
  const std::string number = "in its text '$' expects the number of an operand behind it, such as "
                             "$0 or ${0}; a dollar itself is '$$'";
  for (const char *text :
       {"mov.b32 $0, $;", "mov.b32 $0, ${1;", "mov.b32 $0, ${1:x};", "mov.b32 $0, ${:what};",
        "mov.b32 $0, $1; $(a$|b$)", "mov.b32 $0, $1 $"}) {
    EXPECT_EQ(saidOf(text, "=r,r"), number) << text;
  }
  for (const char *text : {"mov.b32 $0, $2;", "mov.b32 $0, ${2};"}) {
    EXPECT_EQ(saidOf(text, "=r,r"), "in its text '$2' expects an operand of that number, but there "
                                    "are 2, results included")
        << text;
  }
  EXPECT_NE(saidOf("mov.b32 $0, $99999999999999999999;", "=r,r"), "");
  for (const char *text : {"mov.b32 $0, ${1};", "mov.b32 $0, $1; // $$ ${:uid}"}) {
    EXPECT_EQ(saidOf(text, "=r,r"), "") << text;
  }
}

TEST(NvidiaErrors, RegistersOfAssemblyHaveTheWidthOfTheirValues) { // E0301
  EXPECT_EQ(saidOf("mov.b64 $0, $1;", "=d,d"),
            "its constraints '=d,d' have 'd' for a register of 32 bits");
  EXPECT_EQ(saidOf("cvt.f64.u32 $0, $1;", "=d,r"),
            "its constraints '=d,r' have 'd' for a register of 32 bits");
  EXPECT_EQ(saidOf("mov.b16 $0, $1;", "=r,h"),
            "its constraints '=r,h' have 'h' for a register of 32 bits");
  EXPECT_EQ(saidOf("mov.b32 $0, $1;", "=r,b"),
            "its constraints '=r,b' have 'b' for a register of 32 bits");
  EXPECT_EQ(saidOf("mov.b32 $0, $1;", "r,=r"),
            "its constraints 'r,=r' have a result behind an operand");
  EXPECT_EQ(saidOf("mov.b32 $0, $1;", "=r,f", "fp32"), "");
  EXPECT_EQ(saidOf("cvt.s64.s32 $0, $1;", "=l,r", "i32", "int64"), "");
  EXPECT_EQ(saidOf("cvt.u32.u16 $0, $1;", "=r,h", "i16"), "");
}

TEST(NvidiaErrors, NamesThatPtxHasNotAreRefused) { // E0301
  Diagnostics diags;
  EXPECT_FALSE(
      tryPtxOfTiles("func.func @\"k\\C3\\A9\"(%x: !tile.ptr<f32>) attributes {tile.kernel} {\n"
                    "  return\n}",
                    diags));
  ASSERT_EQ(diags.all().size(), 1U) << diags.render();
  EXPECT_EQ(diags.all().front().code, "E0301");
  EXPECT_NE(diags.all().front().message.find("PTX has no name"), std::string::npos);
  EXPECT_EQ(diags.all().front().help, "use ASCII letters, digits and '_'");
}

TEST(NvidiaErrors, MoreWarpsThanAProgramCanHaveAreRefused) { // E0508
  const std::string kernel = "\n@triton.jit\ndef k(x):\n    i = tl.arange(0, 4096)\n"
                             "    tl.store(x + i, i)\n";
  Diagnostics diags;
  EXPECT_FALSE(tryPtxOfText(kernel, "x=*i32, num_warps=64", diags));
  ASSERT_EQ(diags.all().size(), 1U) << diags.render();
  EXPECT_EQ(diags.all().front().code, "E0508");
  EXPECT_EQ(diags.all().front().message,
            "a program of 64 warps has 2048 threads, but sm_90a has at most 1024");
  EXPECT_EQ(diags.all().front().help, "num_warps=32 is the most");
  EXPECT_EQ(countOf(ptxOfText(kernel, "x=*i32, num_warps=32"), ".reqntid 1024"), 1);
}

TEST(NvidiaErrors, RegistersAreLimitedAsTheKernelSays) {
  const std::string kernel = "\n@triton.jit\ndef k(x):\n    tl.store(x, 1)\n";
  EXPECT_EQ(countOf(ptxOfText(kernel, "x=*i32, maxnreg=40"), ".maxnreg 40"), 1);
  EXPECT_EQ(countOf(ptxOfText(kernel, "x=*i32"), ".maxnreg"), 0);
}

TEST(NvidiaErrors, GridsWaitForEachOtherWhereTheyCan) {
  const std::string kernel = "\n@triton.jit\ndef k(x):\n    tl.extra.cuda.gdc_wait()\n"
                             "    tl.store(x, 1)\n    tl.extra.cuda.gdc_launch_dependents()\n";
  const std::string ptx = ptxOfText(kernel, "x=*i32", "nvidia:sm_90a");
  EXPECT_EQ(countOf(ptx, "griddepcontrol.wait"), 2); // every kernel begins with one
  EXPECT_EQ(countOf(ptx, "griddepcontrol.launch_dependents"), 1);
  for (const char *older : {"nvidia:sm_80", "nvidia:sm_86", "nvidia:sm_89"}) {
    EXPECT_EQ(countOf(ptxOfText(kernel, "x=*i32", older), "griddepcontrol."), 0) << older;
  }
}
