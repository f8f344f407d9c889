// SPDX-License-Identifier: Apache-2.0
// x86-64: the levels of its psABI. AArch64: Armv8.0-A, whose NEON is always there. RISC-V: the
// profile-less name rv64gcv, with V of at least 128 bits.
//
// SVE and V have registers of a length that the code need not know. Code is written with vectors of
// a fixed length that every allowed machine's registers hold, so that it runs unchanged on longer
// ones: SVE through predicates of that many elements, V through the vector length it sets.
#include "lib/targets/cpu/codegen/MachineTables.h"

#include <algorithm>

namespace nereid::cpu {

std::span<const Level> levelsOf(Architecture architecture) {
  using enum Architecture;
  static const Level x86[] = {
      {"x86-64-v2", X86, {"cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"}},
      {"x86-64-v3", X86, {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
      {"x86-64-v4", X86, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
  };
  static const Level aarch64[] = {{"aarch64", Aarch64, {"fp-armv8", "neon"}}};
  static const Level riscv64[] = {{"rv64gcv", Riscv64, {"m", "a", "f", "d", "c", "v"}}};
  switch (architecture) {
  case X86:
    return x86;
  case Aarch64:
    return aarch64;
  case Riscv64:
    return riscv64;
  }
  return {};
}

std::span<const Extension> allExtensions() {
  using enum Architecture;
  static const Extension extensions[] = {
      {"avxvnni", X86, "avxvnni", 1},
      {"avx512bf16", X86, "avx512bf16", 2},
      {"avx512vnni", X86, "avx512vnni", 2},
      {"avx512vbmi", X86, "avx512vbmi", 2},
      {"avx512vbmi2", X86, "avx512vbmi2", 2},
      {"lse", Aarch64, "lse"},
      {"sve", Aarch64, "sve"},
      {"sve256", Aarch64, "sve", 0, 256},
      {"sve512", Aarch64, "sve", 0, 512},
      {"zvl256b", Riscv64, "zvl256b", 0, 256},
      {"zvl512b", Riscv64, "zvl512b", 0, 512},
      {"qemu7", Riscv64, ""}, // not vfcvt.rtz: see ElementConversions.h
  };
  return extensions;
}

namespace {

void describeX86(CpuMachine &machine, int level) {
  machine.triple = "x86_64-unknown-linux-gnu";
  machine.processor = "x86-64";
  machine.hasFma = machine.hasHalfConversions = machine.hasGather = level >= 1;
  machine.hasOnlyHalfConversions = machine.hasHalfConversions;
  machine.hasAvx512 = machine.hasMaskedMoves = machine.hasScatter = level >= 2;
  machine.hasNonTemporalStores = true;
  machine.vectorBytes = 16 << level;
  machine.vectorRegisters = level >= 2 ? 32 : 16;
  machine.hasBf16Dots = machine.hasBf16 && machine.hasAvx512;
  machine.hasInt8Dots = machine.hasVnni && machine.hasAvx512;
  machine.laneShuffles = machine.hasAvx512           ? LaneShuffles::Avx512
                         : machine.vectorBytes >= 32 ? LaneShuffles::Avx2
                                                     : LaneShuffles::None;
}

void describeAarch64(CpuMachine &machine) {
  machine.triple = "aarch64-unknown-linux-gnu";
  machine.processor = "generic";
  machine.hasFma = machine.hasHalfConversions = true;
  // Below 256 bits LLVM writes fixed-length vectors with NEON, which has neither predicates nor
  // gathers.
  bool isPredicated = machine.minimumVectorBits >= 256;
  machine.hasMaskedMoves = machine.hasGather = machine.hasScatter = isPredicated;
  machine.roundsWideIntegersOnce = isPredicated;
  machine.hasFloatAtomics = std::find(machine.targetFeatures.begin(), machine.targetFeatures.end(),
                                      "lse") != machine.targetFeatures.end();
  machine.vectorBytes = isPredicated ? machine.minimumVectorBits / 8 : 16;
  machine.vectorRegisters = 32;
}

void describeRiscv64(CpuMachine &machine) {
  machine.triple = "riscv64-unknown-linux-gnu";
  machine.processor = "generic-rv64";
  machine.minimumVectorBits = std::max(machine.minimumVectorBits, 128);
  machine.hasFma = machine.hasMaskedMoves = machine.hasGather = machine.hasScatter = true;
  // Groups of two registers: half as many instructions, and a machine with registers of twice the
  // length still fills one of them.
  constexpr int registersInGroup = 2;
  machine.vectorBytes = std::min(machine.minimumVectorBits / 8 * registersInGroup, 64);
  machine.vectorRegisters = 32 * machine.minimumVectorBits / 8 / machine.vectorBytes;
}

} // namespace

void describeVectors(CpuMachine &machine, int level) {
  switch (machine.instructionSet) {
  case Architecture::X86:
    return describeX86(machine, level);
  case Architecture::Aarch64:
    return describeAarch64(machine);
  case Architecture::Riscv64:
    return describeRiscv64(machine);
  }
}

} // namespace nereid::cpu
