// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/MachineOptions.h"

namespace nereid::cpu {

LoweringOptions loweringOptionsFor(const CpuMachine &machine) {
  LoweringOptions options;
  options.scratchLimitBytes = machine.scratchLimitBytes;
  options.vectorBytes = machine.vectorBytes;
  options.vectorRegisters = machine.vectorRegisters;
  options.hasFma = machine.hasFma;
  options.hasMaskedMoves = machine.hasMaskedMoves;
  options.hasGather = machine.hasGather;
  options.hasScatter = machine.hasScatter;
  options.hasStreamingStores = machine.hasStreamingStores;
  options.hasBf16Dots = machine.hasBf16 && machine.hasAvx512;
  options.hasInt8Dots = machine.hasVnni && machine.hasAvx512;
  if (machine.architecture == Architecture::X86 && machine.vectorBytes >= 32) {
    options.lanePermutes = machine.hasAvx512 ? LanePermutes::Avx512 : LanePermutes::Avx2;
  }
  return options;
}

} // namespace nereid::cpu
