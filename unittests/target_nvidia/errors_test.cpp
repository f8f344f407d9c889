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
}
