// SPDX-License-Identifier: Apache-2.0
// cpu-overlap-iterations: long chains of a main loop give the same numbers at the same places when
// the next iteration begins beside the last one's end, for any number of iterations and in place;
// loops that must stay as they are do.
#include "unittests/target_cpu/CodegenHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace nereid::cpu::test {
namespace {

const std::string vector = "vector<16xf32>";

/// v = (… (x * 0.5 + x) * 0.5 + x …), `length` times, stored to `out`; `middle` comes between the
/// load and the chain.
std::string kernel(int length, const std::string &attributes, const std::string &middle = "",
                   const std::string &store = "llvm.store %last, %to {alignment = 4 : i64} : " +
                                              vector + ", !llvm.ptr") {
  std::string text = R"(
func.func @kernel(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr)
    attributes {tile.kernel} {
  %s1 = llvm.getelementptr %slots[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %s2 = llvm.getelementptr %slots[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %s1 : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %s2 : !llvm.ptr -> i64
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %half = arith.constant dense<0.5> : vector<16xf32>
  scf.for %i = %zero to %n step %step : i64 {
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v0 = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
)" + middle;
  for (int i = 0; i < length; ++i) {
    const std::string from = std::to_string(i), to = std::to_string(i + 1);
    text += "    %v" + to + " = math.fma %v" + from + ", %half, %v0 : " + vector + "\n";
  }
  text += "    %last = arith.addf %v" + std::to_string(length) + ", %v0 : " + vector + "\n    " +
          store + "\n  } " + attributes + "\n  return\n}\n";
  return text;
}

float byHand(float x, int length) {
  float v = x;
  for (int i = 0; i < length; ++i) {
    v = std::fma(v, 0.5F, x);
  }
  return v + x;
}

constexpr const char *mainLoop = "{cpu.whole_vectors}";

bool runsHere() {
  Result<CpuMachine> host = parseMachine("");
  return host && host->vectorBytes == 64;
}

TEST(OverlapIterations, SameNumbersForAnyNumberOfIterations) {
  if (!runsHere()) {
    GTEST_SKIP() << "this machine has no AVX-512";
  }
  for (int length : {3, 12, 30, 3000}) { // of the last not every place for a cut is tried
    CompiledLoops compiled = compileLoops(kernel(length, mainLoop), "x86-64-v4");
    ASSERT_EQ(compiled.error, "");
    for (size_t count : {0, 16, 32, 48, 1024}) {
      std::vector<float> x(count), y(count + 32, -7);
      for (size_t i = 0; i < count; ++i) {
        x[i] = static_cast<float>(i) - 100.25F;
      }
      compiled.call({slot(x.data()), slot(y.data() + 16), count});
      for (size_t i = 0; i < y.size(); ++i) {
        const bool isWritten = i >= 16 && i < count + 16;
        ASSERT_EQ(y[i], isWritten ? byHand(x[i - 16], length) : -7) << count << " " << i;
      }
      // In place: what the next iteration reads is not yet written.
      std::vector<float> z = x;
      compiled.call({slot(z.data()), slot(z.data()), count});
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(z[i], byHand(x[i], length)) << count << " " << i;
      }
    }
  }
}

bool isOverlapped(const std::string &text, const std::string &architecture = "x86-64-v4") {
  // Its first iteration is the one before the first.
  const std::string llvm = compileLoops(text, architecture).llvmText;
  EXPECT_NE(llvm, "");
  return llvm.find("phi <16 x float>") != std::string::npos;
}

TEST(OverlapIterations, OnlyLongChainsOfMainLoops) {
  if (!runsHere()) {
    GTEST_SKIP() << "this machine has no AVX-512";
  }
  EXPECT_TRUE(isOverlapped(kernel(12, mainLoop)));
  EXPECT_TRUE(isOverlapped(kernel(3000, mainLoop)));
  EXPECT_FALSE(isOverlapped(kernel(3, mainLoop)));
  EXPECT_FALSE(isOverlapped(kernel(12, "")));
  EXPECT_FALSE(isOverlapped(kernel(12, mainLoop), "x86-64-v3")); // 16 registers
}

TEST(OverlapIterations, NothingThatStoresBeforeItLoads) {
  if (!runsHere()) {
    GTEST_SKIP() << "this machine has no AVX-512";
  }
  // The second load may meet what the first store has written.
  const std::string again =
      "    llvm.store %v0, %to {alignment = 4 : i64} : " + vector + ", !llvm.ptr\n" +
      "    %w = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> " + vector + "\n" +
      "    llvm.store %w, %to {alignment = 4 : i64} : " + vector + ", !llvm.ptr\n";
  EXPECT_FALSE(isOverlapped(kernel(12, mainLoop, again)));
  const std::string isVolatile = "    %w = llvm.load volatile %from : !llvm.ptr -> " + vector +
                                 "\n    llvm.store %w, %to : " + vector + ", !llvm.ptr\n";
  EXPECT_FALSE(isOverlapped(kernel(12, mainLoop, isVolatile)));
}

TEST(OverlapIterations, StoresThatAConditionChooses) {
  if (!runsHere()) {
    GTEST_SKIP() << "this machine has no AVX-512";
  }
  const std::string choice = R"(%limit = arith.constant 512 : i64
    %isLow = arith.cmpi slt, %i, %limit : i64
    scf.if %isLow {
      llvm.store %last, %to {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
    } else {
      %negative = arith.negf %last : vector<16xf32>
      llvm.store %negative, %to {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
    })";
  const std::string text = kernel(12, mainLoop, "", choice);
  EXPECT_TRUE(isOverlapped(text));
  CompiledLoops compiled = compileLoops(text, "x86-64-v4");
  ASSERT_EQ(compiled.error, "");
  std::vector<float> x(1024), y(1024);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) * 0.5F - 3;
  }
  compiled.call({slot(x.data()), slot(y.data()), x.size()});
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i], i < 512 ? byHand(x[i], 12) : -byHand(x[i], 12)) << i;
  }
}

} // namespace
} // namespace nereid::cpu::test
