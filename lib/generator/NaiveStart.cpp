// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/NaiveStart.h"

#include "lib/generator/ScheduleRules.h"

namespace nereid::generator {
namespace {

constexpr int64_t naiveRows = 64;
constexpr int64_t naiveColumns = 256;

} // namespace

const std::vector<std::string> &startNames() {
  static const std::vector<std::string> names = {"rule", "naive"};
  return names;
}

std::string_view startName(Start start) { return startNames()[static_cast<size_t>(start)]; }

std::optional<Start> parseStart(std::string_view name) {
  for (Start start : {Start::Rule, Start::Naive}) {
    if (startName(start) == name) {
      return start;
    }
  }
  return std::nullopt;
}

Schedule naiveSchedule(const FusedOperator &fused) {
  // The last kind is the one that takes rows of any length.
  switch (variantsOf(fused).back()) {
  case KernelVariant::LoopedRows:
  case KernelVariant::Rows:
    return {KernelVariant::LoopedRows, {{"ROWS", 1}, {"BLOCK_N", naiveColumns}, {"STREAMING", 0}}};
  case KernelVariant::Tiles:
  case KernelVariant::Flat:
    break;
  }
  return {KernelVariant::Tiles,
          {{"BLOCK_M", naiveRows}, {"BLOCK_N", naiveColumns}, {"GRID_2D", 0}, {"STREAMING", 0}}};
}

} // namespace nereid::generator
