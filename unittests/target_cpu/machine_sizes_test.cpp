// SPDX-License-Identifier: Apache-2.0
// Which sizes of loops follow from which chip.
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/codegen/CpuMachine.h"

#include <gtest/gtest.h>

namespace nereid::cpu {
namespace {

/// L1d, L2 and L3.
Machine withCaches(std::vector<int64_t> bytes) {
  Machine machine;
  for (size_t i = 0; i < bytes.size(); ++i) {
    machine.caches.push_back({"L" + std::to_string(i + 1), bytes[i]});
  }
  return machine;
}

/// What was measured best on the processor whose caches genericMachine() has.
TEST(MachineSizes, AreTheMeasuredOnesWhereNoChipIsDescribed) {
  for (const char *target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64", "rv64gcv"}) {
    Result<CpuMachine> machine = parseMachine(target);
    ASSERT_TRUE(static_cast<bool>(machine));
    EXPECT_EQ(sizes::panelBytes(*machine), 32 << 10);
    EXPECT_EQ(sizes::cachedProductBytes(*machine), 48 << 10);
    EXPECT_EQ(sizes::mostNearBytes(*machine), 16384);
    EXPECT_EQ(sizes::mostShortRow(*machine), 8192);
    EXPECT_EQ(sizes::panelCacheBytes(*machine), 3 << 19);
    EXPECT_EQ(sizes::collidingBytes(*machine), 16 << 10);
    EXPECT_EQ(sizes::longestRowBytes(*machine), 256 << 10);
    EXPECT_EQ(sizes::nonTemporalFromBytes(*machine), 32 << 20);
  }
  EXPECT_EQ(sizes::mostCarried(*parseMachine("x86-64-v4")), 12u);
  EXPECT_EQ(sizes::mostAlive(*parseMachine("x86-64-v4")), 36u);
}

TEST(MachineSizes, FollowTheirCacheAlone) {
  const Machine first = withCaches({64 << 10, 1 << 20, 32 << 20});
  EXPECT_EQ(sizes::cachedProductBytes(first), 64 << 10);
  EXPECT_EQ(sizes::longestRowBytes(first), 256 << 10);
  const Machine second = withCaches({48 << 10, 2 << 20, 32 << 20});
  EXPECT_EQ(sizes::panelBytes(second), 32 << 10);
  EXPECT_EQ(sizes::longestRowBytes(second), 512 << 10);
  EXPECT_EQ(sizes::nonTemporalFromBytes(withCaches({48 << 10, 1 << 20, 96 << 20})), 96 << 20);
}

TEST(MachineSizes, OfASharedLevelOneCoreHasItsShare) {
  Machine machine = withCaches({64 << 10, 2 << 20, 32 << 20});
  machine.caches[1].sharedBy = 4;
  machine.caches[2].sharedBy = 16;
  EXPECT_EQ(sizes::longestRowBytes(machine), 128 << 10);
  EXPECT_EQ(sizes::nonTemporalFromBytes(machine), 32 << 20);
}

TEST(MachineSizes, OfAChipWithFewerLevelsTheLastCounts) {
  const Machine machine = withCaches({32 << 10, 4 << 20});
  EXPECT_EQ(sizes::longestRowBytes(machine), 1 << 20);
  EXPECT_EQ(sizes::nonTemporalFromBytes(machine), 4 << 20);
  EXPECT_EQ(sizes::nonTemporalFromBytes(withCaches({})), 32 << 20);
}

TEST(MachineSizes, StayUsableWhateverTheDescriptorSays) {
  for (int64_t bytes : {int64_t{1}, int64_t{4097}, int64_t{1} << 59}) {
    const Machine machine = withCaches({bytes, bytes, bytes});
    for (int64_t size : {sizes::panelBytes(machine), sizes::cachedProductBytes(machine),
                         sizes::mostNearBytes(machine), sizes::mostShortRow(machine),
                         sizes::panelCacheBytes(machine), sizes::collidingBytes(machine),
                         sizes::longestRowBytes(machine), sizes::nonTemporalFromBytes(machine)}) {
      EXPECT_GE(size, 64);
      EXPECT_LE(size, int64_t{1} << 30);
    }
    EXPECT_TRUE(std::has_single_bit(static_cast<uint64_t>(sizes::collidingBytes(machine))));
  }
}

Machine chipOf(const char *architecture, int vectorBytes, int vectorRegisters) {
  Machine chip = genericMachine();
  chip.architecture = architecture;
  chip.vectorBytes = vectorBytes;
  chip.vectorRegisters = vectorRegisters;
  return chip;
}

TEST(CpuMachine, HasNoMoreThanTheChipAndNoMoreThanTheTarget) {
  const Machine narrow = chipOf("x86-64", 32, 16), wide = chipOf("x86-64", 64, 32);
  Result<CpuMachine> v4 = parseMachine("x86-64-v4,+avx512bf16,+avx512vnni", &narrow);
  ASSERT_TRUE(static_cast<bool>(v4));
  EXPECT_EQ(v4->vectorBytes, 32);
  EXPECT_EQ(v4->vectorRegisters, 16);
  EXPECT_FALSE(v4->hasBf16Dots || v4->hasInt8Dots || v4->hasAvx512);
  EXPECT_EQ(v4->laneShuffles, LaneShuffles::Avx2);
  EXPECT_TRUE(v4->hasMaskedMoves);
  EXPECT_EQ(v4->requirementText(),
            parseMachine("x86-64-v4,+avx512bf16,+avx512vnni")->requirementText());
  EXPECT_EQ(parseMachine("x86-64-v3", &wide)->vectorBytes, 32);
  EXPECT_EQ(parseMachine("x86-64-v3", &wide)->vectorRegisters, 16);
  const Machine neon = chipOf("aarch64", 16, 32);
  EXPECT_FALSE(parseMachine("aarch64,+sve256", &neon)->hasMaskedMoves);
  // A vector of RISC-V's is two registers.
  const Machine riscv = chipOf("riscv64", 16, 32);
  EXPECT_EQ(parseMachine("rv64gcv", &riscv)->vectorBytes, parseMachine("rv64gcv")->vectorBytes);
  EXPECT_EQ(parseMachine("rv64gcv", &riscv)->vectorRegisters,
            parseMachine("rv64gcv")->vectorRegisters);
}

TEST(CpuMachine, RefusesChipsThatItCannotBe) {
  for (const Machine &chip : {chipOf("aarch64", 16, 32), chipOf("x86-64", 8, 16),
                              chipOf("x86-64", 16, 8), chipOf("", 16, 16)}) {
    Result<CpuMachine> machine = parseMachine("x86-64-v3", &chip);
    ASSERT_FALSE(static_cast<bool>(machine));
    EXPECT_EQ(machine.error().code, "E0701");
    EXPECT_FALSE(machine.error().help.empty());
  }
  const Machine unknown = chipOf("s390x", 16, 32);
  EXPECT_FALSE(static_cast<bool>(parseMachine("", &unknown)));
}

} // namespace
} // namespace nereid::cpu
