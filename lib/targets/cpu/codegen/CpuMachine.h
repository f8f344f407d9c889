// SPDX-License-Identifier: Apache-2.0
// What the CPU code generator knows about the machine it compiles for: the part of a target name
// after "cpu:", its vector registers and the instruction set extensions that generated code may
// use. Read by lower/ for tile shapes and by codegen/ for instruction selection.
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::cpu {

struct CpuMachine {
  std::string name;                  ///< canonical: "x86-64-v4+avx512bf16"
  std::string triple;                ///< "x86_64-unknown-linux-gnu"
  std::string tuneFor;               ///< scheduling model, e.g. "znver4"; empty = generic
  std::vector<std::string> features; ///< LLVM names without sign, a fixed order
  int vectorBytes = 16;
  int vectorRegisters = 16;
  bool hasFma = false;
  bool hasF16c = false;
  bool hasAvx512 = false; ///< F, BW, CD, DQ and VL together
  bool hasBf16 = false;   ///< AVX512_BF16

  /// "+avx2,+fma": what LLVM reads, and what a host must have to run the code.
  std::string featureText() const;
};

/// `architecture` is empty for this machine (NEREID_CPU_FEATURES may restrict it: a level such as
/// "x86-64-v3", or "-avx512f"), else "x86-64-v2|v3|v4[,+feature…]". E0303 when it is unknown.
Result<CpuMachine> parseMachine(std::string_view architecture);

} // namespace nereid::cpu
