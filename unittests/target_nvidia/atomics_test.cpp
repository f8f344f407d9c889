// SPDX-License-Identifier: Apache-2.0
// Atomic operations on elements that no instruction has. Those of integers of 8 and 16 bits come
// from tile IR alone: the kernel language has none.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::nvidia;

namespace {

std::string ptxOfTiles(const std::string &module) {
  Diagnostics diags;
  const auto ptx = tryPtxOfTiles(module, diags);
  EXPECT_TRUE(ptx) << diags.render();
  EXPECT_EQ(complaintOfPtxas(ptx.value_or("")), "");
  return ptx.value_or("");
}

} // namespace

TEST(NvidiaAtomics, BytesGoThroughTheirWord) {
  const std::string ptx = ptxOfTiles(R"(
func.func @k(%x: !tile.ptr<i8>, %y: !tile.ptr<i8>) attributes {tile.kernel} {
  %one = arith.constant dense<1> : tensor<128xi8>
  %offs = tile.make_range 0 to 128 : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>>
  %at = tile.addptr %xs, %offs : tensor<128x!tile.ptr<i8>>, tensor<128xi32>
  %old = tile.atomic_rmw add %at, %one : tensor<128x!tile.ptr<i8>>, tensor<128xi8>
  %ys = tile.splat %y : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>>
  %to = tile.addptr %ys, %offs : tensor<128x!tile.ptr<i8>>, tensor<128xi32>
  tile.store %to, %old : tensor<128x!tile.ptr<i8>>, tensor<128xi8>
  return
})");
  EXPECT_EQ(countOf(ptx, "ld.relaxed.gpu.global.b32"), 1);
  EXPECT_EQ(countOf(ptx, "atom.acq_rel.gpu.global.cas.b32"), 1);
}

TEST(NvidiaAtomics, BytesAreComparedInTheirWord) {
  const std::string ptx = ptxOfTiles(R"(
func.func @k(%x: !tile.ptr<i8>, %y: !tile.ptr<i8>) attributes {tile.kernel} {
  %zero = arith.constant 0 : i8
  %one = arith.constant 1 : i8
  %old = tile.atomic_cas %x, %zero, %one : !tile.ptr<i8>, i8
  tile.store %y, %old : !tile.ptr<i8>, i8
  return
})");
  EXPECT_EQ(countOf(ptx, "atom.acq_rel.gpu.global.cas.b32"), 1);
}

TEST(NvidiaAtomics, HalvesHaveACompareAndSwapOfTheirOwn) {
  const std::string ofFloats = ptxOfText(R"(
@triton.jit
def k(x, v):
    tl.atomic_add(x + tl.arange(0, 128), tl.load(v + tl.arange(0, 128)), sem='relaxed')
)",
                                         "x=*bf16, v=*bf16");
  EXPECT_EQ(countOf(ofFloats, "atom.relaxed.gpu.global.cas.b16"), 1);
  const std::string ofIntegers = ptxOfTiles(R"(
func.func @k(%x: !tile.ptr<i16>) attributes {tile.kernel} {
  %one = arith.constant 1 : i16
  %old = tile.atomic_rmw umax %x, %one : !tile.ptr<i16>, i16
  return
})");
  EXPECT_EQ(countOf(ofIntegers, "atom.acq_rel.gpu.global.cas.b16"), 1);
}
