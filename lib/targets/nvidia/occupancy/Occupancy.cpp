// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/occupancy/Occupancy.h"

#include <algorithm>

namespace nereid::nvidia {
namespace {

constexpr int64_t lanes = 32;         ///< threads of a warp
constexpr int64_t quarters = 4;       ///< parts of a multiprocessor, each with warps of its own
constexpr int64_t registerUnit = 256; ///< of a warp
constexpr int64_t sharedUnit = 128;   ///< bytes
constexpr int64_t sharedOfDriver = 1 << 10; ///< bytes of each program
constexpr int64_t mostThreads = 1024;       ///< of a program

int64_t roundedUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

int64_t byRegisters(const Multiprocessor &processor, int64_t registers, int64_t warps,
                    int64_t otherwise) {
  const int64_t registersOfQuarter = processor.registers / quarters;
  if (registers == 0) {
    return otherwise;
  }
  const int64_t perWarp = roundedUp(registers * lanes, registerUnit);
  if (perWarp * roundedUp(warps, quarters) > processor.registers) {
    return 0; // a program is asked for as if its warps took the same of every quarter
  }
  return registersOfQuarter / perWarp * quarters / warps;
}

} // namespace

std::optional<Multiprocessor> multiprocessorOf(int capability) {
  static const Multiprocessor known[] = {
      {80, 2048, 32, 164 << 10},
      {86, 1536, 16, 100 << 10},
      {89, 1536, 24, 100 << 10},
      {90, 2048, 32, 228 << 10},
  };
  const auto *found = std::find_if(std::begin(known), std::end(known),
                                   [&](const auto &one) { return one.capability == capability; });
  return found == std::end(known) ? std::nullopt : std::optional(*found);
}

pipeline::Occupation occupancy(const Multiprocessor &processor,
                               const runtime::FunctionResources &resources, int64_t threads,
                               int64_t dynamicSharedBytes) {
  const int64_t warps = std::max<int64_t>(1, (threads + lanes - 1) / lanes);
  const int64_t shared =
      roundedUp(resources.sharedBytes + dynamicSharedBytes + sharedOfDriver, sharedUnit);
  pipeline::Occupation result;
  result.limits = {
      {"threads", threads > mostThreads ? 0 : processor.threads / lanes / warps},
      {"registers", byRegisters(processor, resources.registers, warps, processor.programs)},
      {"shared memory", processor.sharedBytes / shared},
      {"programs", processor.programs},
  };
  result.programs =
      std::min_element(result.limits.begin(), result.limits.end(),
                       [](const auto &a, const auto &b) { return a.programs < b.programs; })
          ->programs;
  result.share =
      static_cast<double>(result.programs * warps * lanes) / static_cast<double>(processor.threads);
  return result;
}

} // namespace nereid::nvidia
