// SPDX-License-Identifier: Apache-2.0
// First choices. A program instance is one task of the thread pool, so a block should be large
// enough to hide the hand-out (about a microsecond: some ten thousand elements) and small enough
// that every core gets several. Tiles are inner-dimension first: long contiguous runs.
#include "lib/generator/ScheduleRules.h"
#include "lib/measure/statistics/Evidence.h"

#include "lib/generator/Patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace nereid::generator {
namespace {

/// A program of so many takes longer than handing it out, which the pool's code decides.
constexpr int64_t elementsPerProgram = 16384;
/// Rows that stream: a program prefetches the row behind the one at work, and orders its stores
/// once, at its end.
constexpr int64_t streamedElementsPerProgram = 16 * elementsPerProgram;
/// A device starts a program in less than a microsecond, and keeps elements in registers: sixteen
/// for each thread are two accesses of 16 bytes at least.
constexpr int64_t deviceElementsPerProgram = 2048;
constexpr int64_t lanes = 32, elementsPerLane = 16, mostWarps = 32, mostPerLane = 64;
constexpr int64_t deviceTileColumns = 1024;
/// Where the rules begin; scheduleSpace() goes on to four times as many.
constexpr int64_t widestTileColumns = 4096;
/// Upstream's limit for one tile.
constexpr int64_t largestTile = 1 << 20;
constexpr int64_t largestRows = 4096;
/// Of float32 in the longest vectors that there is code for: one source is for all chips.
constexpr int64_t vectorLanes = 16;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Elements a program should take so that each core gets at least four programs.
int64_t balancedElements(const CaseSizes &sizes, const Machine &chip, int64_t block) {
  while (block > 1024 && ceilDiv(sizes.elements(), block) < 4 * int64_t{chip.cores}) {
    block /= 2;
  }
  return block;
}

int64_t isStreaming(const CaseSizes &sizes, const Machine &chip) {
  return sizes.outputBytes > static_cast<double>(chip.lastCacheBytes()) ? 1 : 0;
}

/// Elements that a program works on at a time.
int64_t tileOf(const Schedule &schedule) {
  return schedule.get("BLOCK", 1) * schedule.get("BLOCK_M", 1) * schedule.get("BLOCK_N", 1);
}

/// The schedule, on a device with so many warps that each thread holds some elements.
Schedule withWarps(Schedule schedule, const Machine &chip) {
  if (chip.isDevice) {
    schedule.constants.emplace_back(
        warpsName, std::clamp<int64_t>(tileOf(schedule) / (lanes * elementsPerLane), 1, mostWarps));
  }
  return schedule;
}

bool isPowerOfTwo(int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<uint64_t>(value));
}

int64_t powerOfTwoAtMost(int64_t value) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(value, 1))));
}

} // namespace

int64_t powerOfTwoAtLeast(int64_t value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(value, 1))));
}

int64_t columnBlock(int64_t columns, int64_t limit) {
  return std::clamp(powerOfTwoAtLeast(columns), vectorLanes, std::max(limit, vectorLanes));
}

std::vector<KernelVariant> variantsOf(const FusedOperator &fused) {
  if (fused.hasReduction) {
    return {KernelVariant::Rows, KernelVariant::LoopedRows};
  }
  if (fused.isFlat) {
    return {KernelVariant::Flat, KernelVariant::Tiles};
  }
  return {KernelVariant::Tiles};
}

int64_t widestRowTile(const Machine &chip) {
  // Two float32 tiles of a row should stay in half the second-level cache.
  return std::clamp<int64_t>(powerOfTwoAtMost(chip.cacheBytes("L2") / 2 / 8), 1024, 65536);
}

Schedule ruleFor(KernelVariant variant, const CaseSizes &sizes, const Machine &chip) {
  Schedule schedule;
  schedule.variant = variant;
  int64_t streaming = isStreaming(sizes, chip);
  const int64_t most = chip.isDevice ? deviceElementsPerProgram : elementsPerProgram;
  int64_t elements = balancedElements(sizes, chip, most);
  switch (variant) {
  case KernelVariant::Flat:
    schedule.constants = {{"BLOCK", elements}, {"STREAMING", streaming}};
    break;
  case KernelVariant::Tiles: {
    int64_t n = columnBlock(sizes.columns, chip.isDevice ? deviceTileColumns : widestTileColumns);
    int64_t m = std::clamp<int64_t>(elements / n, 1, powerOfTwoAtLeast(sizes.rows));
    schedule.constants = {{"BLOCK_M", m}, {"BLOCK_N", n}, {"GRID_2D", 1}, {"STREAMING", streaming}};
    break;
  }
  case KernelVariant::Rows:
  case KernelVariant::LoopedRows: {
    int64_t n = columnBlock(sizes.columns,
                            variant == KernelVariant::Rows ? largestTile : widestTileColumns);
    if (streaming && !chip.isDevice) {
      elements = balancedElements(sizes, chip, streamedElementsPerProgram);
    }
    int64_t rows = powerOfTwoAtMost(elements / std::max<int64_t>(sizes.columns, 1));
    rows = std::clamp<int64_t>(rows, 1, std::min(powerOfTwoAtLeast(sizes.rows), largestRows));
    schedule.constants = {{"ROWS", rows}, {"BLOCK_N", n}, {"STREAMING", streaming}};
    break;
  }
  }
  return withWarps(std::move(schedule), chip);
}

KernelVariant variantByRule(const FusedOperator &fused, const CaseSizes &sizes,
                            const Machine &chip) {
  if (fused.hasReduction) {
    return sizes.columns <= widestRowTile(chip) ? KernelVariant::Rows : KernelVariant::LoopedRows;
  }
  return variantsOf(fused).front();
}

bool isValid(const Schedule &schedule, const FusedOperator &fused, const CaseSizes &sizes,
             std::string *why) {
  auto refuse = [&](std::string reason) {
    if (why) {
      *why = std::move(reason);
    }
    return false;
  };
  std::vector<KernelVariant> variants = variantsOf(fused);
  if (std::find(variants.begin(), variants.end(), schedule.variant) == variants.end()) {
    return refuse(fmt::format("operator '{}' has no '{}' kernel", fused.op.name,
                              variantName(schedule.variant)));
  }
  Schedule expected = ruleFor(schedule.variant, sizes, genericMachine());
  if (const int64_t warps = schedule.get(warpsName, 0)) {
    expected.constants.emplace_back(warpsName, warps);
    if (warps > mostWarps) {
      return refuse(
          fmt::format("expects at most {} for '{}', but got {}", mostWarps, warpsName, warps));
    }
  }
  if (expected.constants.size() != schedule.constants.size()) {
    return refuse(fmt::format("expects the constants of '{}', but got '{}'", expected.text(),
                              schedule.text()));
  }
  int64_t tile = 1;
  for (size_t i = 0; i < expected.constants.size(); ++i) {
    const auto &[name, value] = schedule.constants[i];
    if (name != expected.constants[i].first) {
      return refuse(
          fmt::format("expects constant '{}', but got '{}'", expected.constants[i].first, name));
    }
    bool isSwitch = name == "STREAMING" || name == "GRID_2D";
    if (isSwitch && (value < 0 || value > 1)) {
      return refuse(fmt::format("expects 0 or 1 for '{}', but got {}", name, value));
    }
    if (!isSwitch && !isPowerOfTwo(value)) {
      return refuse(fmt::format("expects a power of two for '{}', but got {}", name, value));
    }
    tile *= isSwitch || name == "ROWS" || name == warpsName ? 1 : value;
    if (tile > largestTile) {
      return refuse(fmt::format("a tile has {} elements at most, but '{}' needs more", largestTile,
                                schedule.text()));
    }
  }
  if (schedule.variant == KernelVariant::Rows && schedule.get("BLOCK_N") < sizes.columns) {
    return refuse(fmt::format("BLOCK_N = {} does not cover a row of {} columns",
                              schedule.get("BLOCK_N"), sizes.columns));
  }
  return true;
}

/// The schedule with each number of warps that gives a thread neither too little nor too much.
static std::vector<Schedule> warpForms(const Schedule &schedule) {
  std::vector<Schedule> forms = {schedule};
  if (schedule.get(warpsName, 0) == 0) {
    return forms;
  }
  for (int64_t warps = 1; warps <= mostWarps; warps *= 2) {
    const int64_t held = tileOf(schedule) / (lanes * warps);
    if (held >= 2 && held <= mostPerLane && warps != schedule.get(warpsName)) {
      forms.push_back(schedule.with(warpsName, warps));
    }
  }
  return forms;
}

std::vector<Schedule> scheduleSpace(const FusedOperator &fused, const CaseSizes &sizes, DType,
                                    const Machine &chip) {
  std::vector<Schedule> space;
  std::set<std::string> seen;
  const int64_t least = chip.isDevice ? 256 : 1024, largest = chip.isDevice ? 16384 : 65536;
  auto addAll = [&](Schedule schedule) {
    std::vector<Schedule> forms = warpForms(schedule);
    for (const char *name : {"STREAMING", "GRID_2D"}) {
      if (schedule.get(name, -1) >= 0) {
        size_t count = forms.size();
        for (size_t i = 0; i < count; ++i) {
          forms.push_back(forms[i].with(name, 1 - forms[i].get(name)));
        }
      }
    }
    for (Schedule &form : forms) {
      if (isValid(form, fused, sizes) && seen.insert(form.text()).second) {
        space.push_back(std::move(form));
      }
    }
  };
  KernelVariant preferred = variantByRule(fused, sizes, chip);
  addAll(ruleFor(preferred, sizes, chip));
  for (KernelVariant variant : variantsOf(fused)) {
    Schedule rule = ruleFor(variant, sizes, chip);
    if (variant == KernelVariant::Flat) {
      for (int64_t block = least; block <= largest; block *= 2) {
        addAll(rule.with("BLOCK", block));
      }
      continue;
    }
    bool isTiles = variant == KernelVariant::Tiles;
    const char *outer = isTiles ? "BLOCK_M" : "ROWS";
    int64_t widest = columnBlock(sizes.columns, 16384);
    for (int64_t n = std::max<int64_t>(widest / 16, vectorLanes); n <= widest; n *= 2) {
      if (variant == KernelVariant::Rows && n != widest) {
        continue;
      }
      int64_t width = variant == KernelVariant::Tiles ? n : powerOfTwoAtLeast(sizes.columns);
      for (int64_t total = least; total <= largest; total *= 2) {
        int64_t m = std::clamp<int64_t>(total / width, 1, powerOfTwoAtLeast(sizes.rows));
        Schedule schedule = rule.with(outer, std::min(m, largestRows));
        addAll(variant == KernelVariant::Rows ? schedule : schedule.with("BLOCK_N", n));
      }
    }
  }
  return space;
}

FirstChoice firstSchedule(const FusedOperator &fused, const CaseSizes &sizes, DType dtype,
                          const Machine &chip, const Patterns *patterns) {
  FirstChoice choice;
  choice.schedule = ruleFor(variantByRule(fused, sizes, chip), sizes, chip);
  choice.origin = "rule";
  choice.reason = fmt::format("{} × {} elements on {} cores: {}", sizes.rows, sizes.columns,
                              chip.cores, choice.schedule.text());
  if (!patterns) {
    return choice;
  }
  std::set<std::string> decided;
  for (const Pattern *pattern : patterns->lookup(fused.kind(), sizes, dtype, chip)) {
    std::string name = pattern->change.substr(0, pattern->change.find('='));
    // Two per cent is what measurement can tell apart; the first word on a constant is the best.
    bool applies = pattern->gain > measure::leastGain && !decided.contains(name) &&
                   pattern->variant == variantName(choice.schedule.variant);
    if (!applies) {
      continue;
    }
    auto changed = applyChange(choice.schedule, pattern->change, sizes);
    bool isFromHere = changed && changeKey(*changed, choice.schedule) == pattern->from;
    if (!isFromHere || !isValid(*changed, fused, sizes)) {
      continue;
    }
    decided.insert(name);
    if (*changed == choice.schedule) {
      continue;
    }
    choice.schedule = *changed;
    choice.reason =
        fmt::format("{}'{}' gained {:.2f}x in {} observation{}",
                    choice.origin == "pattern" ? choice.reason + "; " : "", pattern->change,
                    pattern->gain, pattern->count, pattern->count == 1 ? "" : "s");
    choice.origin = "pattern";
  }
  return choice;
}

} // namespace nereid::generator
