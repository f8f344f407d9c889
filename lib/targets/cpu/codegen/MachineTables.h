// SPDX-License-Identifier: Apache-2.0
// The names that a CPU target may have: levels of an architecture, each with what it adds to the
// level below, and single extensions of a level. The tables say nothing about vectors; that is
// describeVectors'.
#pragma once

#include "lib/targets/cpu/codegen/CpuMachine.h"

#include <span>
#include <string_view>
#include <vector>

namespace nereid::cpu {

struct Level {
  std::string_view name;
  Architecture architecture;
  std::vector<std::string_view> features; ///< LLVM's, those that the level below does not have
};

struct Extension {
  std::string_view name;
  Architecture architecture;
  std::string_view feature; ///< LLVM's; empty: another choice of instructions, no requirement
  int lowestLevel = 0;      ///< index within the architecture's levels that it may be added to
  int vectorBits = 0;       ///< minimumVectorBits that it promises
};

/// The levels of an architecture, lowest first.
std::span<const Level> levelsOf(Architecture architecture);
std::span<const Extension> allExtensions();

/// Fills triple, processor and everything about vectors from architecture, features and
/// minimumVectorBits. `level` is an index into levelsOf().
void describeVectors(CpuMachine &machine, int level);

} // namespace nereid::cpu
