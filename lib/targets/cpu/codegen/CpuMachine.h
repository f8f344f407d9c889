// SPDX-License-Identifier: Apache-2.0
// The machine that the CPU target compiles for: the one description of a chip that lower/ reads,
// and what LLVM calls the part of a target name after "cpu:", for codegen/.
#pragma once

#include "lib/machine/Machine.h"
#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::cpu {

enum class Architecture : uint8_t { X86, Aarch64, Riscv64 };

struct CpuMachine : Machine {
  Architecture instructionSet = Architecture::X86;
  std::string targetName; ///< canonical: "x86-64-v4+avx512bf16"
  std::string triple;     ///< "x86_64-unknown-linux-gnu"
  std::string processor;  ///< LLVM's name of the generic processor of the architecture
  std::string tuneFor;    ///< scheduling model, e.g. "znver4"; empty = generic
  std::vector<std::string> targetFeatures; ///< LLVM names without sign, a fixed order
  /// Vector registers that are at least so long on every machine the code may run on; 0 where their
  /// length is no choice of the machine's.
  int minimumVectorBits = 0;
  bool hasHalfConversions = false;     ///< float16 to and from float32
  bool hasOnlyHalfConversions = false; ///< and no other instruction of float16
  bool hasVectorTruncation = true;     ///< see ElementConversions.h
  bool roundsWideIntegersOnce = true;  ///< in vectors, see ElementConversions.h
  bool hasFloatAtomics = true;         ///< see FloatAtomics.h
  bool hasAvx512 = false;              ///< F, BW, CD, DQ and VL together, for vectors of 64 bytes
  bool hasBf16 = false;                ///< AVX512_BF16
  bool hasVnni = false;                ///< AVX512_VNNI

  /// "+avx2,+fma": what LLVM reads.
  std::string featureText() const;
  /// What a host must have to run the code, as runtime/cpu/CpuFeatures.h names it: featureText()
  /// and, for vectors of a length LLVM has no feature for, "+sve256".
  std::string requirementText() const;
};

/// `architecture` is empty for this machine (NEREID_CPU_FEATURES may restrict it: a level such as
/// "x86-64-v3", or "-avx512f"), else "x86-64-v2|v3|v4", "aarch64" or "rv64gcv" with extensions
/// behind it: "x86-64-v4,+avx512bf16". E0303 when it is unknown.
/// `chip` says what code is shaped for: its caches, and of the architecture's vectors and registers
/// as many as it has. Null = the architecture's vectors and registers, and genericMachine()'s
/// caches. E0701 when it is of another architecture, or has less than any processor of it.
Result<CpuMachine> parseMachine(std::string_view architecture, const Machine *chip = nullptr);

/// The most that a machine with these features can run, both named as in runtime/cpu/CpuFeatures.h;
/// E0303 when it is less than the architecture's lowest level.
Result<CpuMachine> machineOffering(std::string_view architecture,
                                   const std::vector<std::string> &features);

} // namespace nereid::cpu
