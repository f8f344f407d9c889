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
