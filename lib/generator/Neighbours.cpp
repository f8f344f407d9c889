// SPDX-License-Identifier: Apache-2.0
// The next things to try: one change at a time, each an answer to a finding, best expectation
// first. Expectations are arithmetic where possible (a streaming store saves reading the line it
// replaces) and experience from patterns.json where there is some.
#include "lib/generator/Patterns.h"
#include "lib/generator/ScheduleRules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace nereid::generator {
namespace {

class Explorer {
public:
  Explorer(const FusedOperator &fused, const Schedule &schedule, const CaseSizes &sizes,
           const ChipSummary &chip, const Diagnosis &diagnosis, const std::vector<Schedule> &tried)
      : fused(fused), schedule(schedule), sizes(sizes), chip(chip), diagnosis(diagnosis),
        tried(tried) {}

  std::vector<Neighbour> run() {
    streaming();
    grid();
    blocks();
    variants();
    return std::move(found);
  }

private:
  void propose(const Schedule &changed, std::string change, std::string reason, double gain,
               ChangeClass changeClass = ChangeClass::Parameter) {
    bool isKnown = changed == schedule ||
                   std::find(tried.begin(), tried.end(), changed) != tried.end() ||
                   std::any_of(found.begin(), found.end(),
                               [&](const Neighbour &n) { return n.schedule == changed; });
    if (isKnown || !isValid(changed, fused, sizes)) {
      return;
    }
    found.push_back({changed, changeClass, std::move(change), changeKey(schedule, changed),
                     std::move(reason), gain});
  }

  void streaming() {
    bool isOn = schedule.get("STREAMING") != 0;
    bool isBeyond = sizes.outputBytes > static_cast<double>(chip.l3Bytes);
    if (!isOn) {
      double saved = sizes.bytes > 0 ? (sizes.bytes + sizes.outputBytes) / sizes.bytes : 1;
      propose(schedule.with("STREAMING", 1), "STREAMING 0 -> 1",
              isBeyond ? "the output does not fit the last-level cache: streaming stores write it "
                         "without reading it first"
                       : "streaming stores leave the cache to the inputs",
              isBeyond ? saved : 0.95);
    } else {
      propose(schedule.with("STREAMING", 0), "STREAMING 1 -> 0",
              "ordinary stores leave the output in the cache for its next reader",
              isBeyond ? 0.9 : 1.1);
    }
  }

  void grid() {
    if (schedule.variant != KernelVariant::Tiles) {
      return;
    }
    bool is2d = schedule.get("GRID_2D") != 0;
    bool hasSeveral = sizes.columns > schedule.get("BLOCK_N");
    double gain = !hasSeveral ? 1.0 : diagnosis.bandwidthFraction < 0.6 ? 1.1 : 1.02;
    propose(schedule.with("GRID_2D", is2d ? 0 : 1), is2d ? "GRID_2D 1 -> 0" : "GRID_2D 0 -> 1",
            is2d ? "a one-dimensional grid walks each row to its end before the next, in the "
                   "order of memory"
                 : "a two-dimensional grid keeps the low-rank operand in the cache while the rows "
                   "go by",
            gain);
  }

  void doubled(const char *name, const char *larger, const char *smaller, double largerGain,
               double smallerGain) {
    int64_t value = schedule.get(name, -1);
    if (value < 0) {
      return;
    }
    propose(schedule.with(name, value * 2), fmt::format("{} {} -> {}", name, value, value * 2),
            larger, largerGain);
    if (value > 1) {
      propose(schedule.with(name, value / 2), fmt::format("{} {} -> {}", name, value, value / 2),
              smaller, smallerGain);
    }
  }

  void blocks() {
    double larger = 1 + diagnosis.launchFraction / 2;
    double smaller = 1 + diagnosis.idleFraction;
    const char *fewer = "fewer, larger programs spend less time in being handed out";
    const char *more = "more, smaller programs share the work more evenly among the cores";
    doubled("BLOCK", fewer, more, larger, smaller);
    doubled("ROWS", fewer, more, larger, smaller);
    doubled("BLOCK_M", fewer, more, larger, smaller);
    if (schedule.variant != KernelVariant::Rows) {
      bool isNarrow = schedule.get("BLOCK_N") < sizes.columns;
      doubled("BLOCK_N", "longer contiguous runs use the prefetcher and the memory pages better",
              "shorter runs keep the tile in the first-level cache",
              isNarrow ? std::max(larger, diagnosis.bandwidthFraction < 0.6 ? 1.15 : 1.03) : 0.98,
              1.02);
      // The same tile, another shape.
      int64_t m = schedule.get("BLOCK_M", 0), n = schedule.get("BLOCK_N");
      if (m > 1 && isNarrow) {
        propose(schedule.with("BLOCK_M", m / 2).with("BLOCK_N", n * 2),
                fmt::format("BLOCK_M {} -> {}, BLOCK_N {} -> {}", m, m / 2, n, n * 2),
                "a wider tile of the same size reads longer contiguous runs", 1.05);
      }
    }
  }

  void variants() {
    for (KernelVariant variant : variantsOf(fused)) {
      if (variant == schedule.variant) {
        continue;
      }
      std::string change =
          fmt::format("variant {} -> {}", variantName(schedule.variant), variantName(variant));
      bool isLooped = variant == KernelVariant::LoopedRows;
      bool isWide = sizes.columns * 8 > chip.l1Bytes;
      std::string reason =
          isLooped ? "column blocks stay in the first-level cache where a whole row does not"
          : variant == KernelVariant::Rows  ? "a whole row as one tile reads its input only once"
          : variant == KernelVariant::Tiles ? "rows as a tile dimension"
                                            : "one flat dimension has no row arithmetic";
      // Another order of the arithmetic of a reduction: every file is written and checked again.
      ChangeClass changeClass = fused.hasReduction ? ChangeClass::Logic : ChangeClass::Parameter;
      propose(ruleFor(variant, sizes, chip).with("STREAMING", schedule.get("STREAMING")), change,
              reason, isLooped ? (isWide ? 1.05 : 0.9) : 1.0, changeClass);
    }
  }

  const FusedOperator &fused;
  const Schedule &schedule;
  const CaseSizes &sizes;
  const ChipSummary &chip;
  const Diagnosis &diagnosis;
  const std::vector<Schedule> &tried;
  std::vector<Neighbour> found;
};

} // namespace

std::optional<Schedule> applyChange(const Schedule &schedule, const std::string &key,
                                    const CaseSizes &sizes) {
  constexpr std::string_view variantKey = "variant=";
  if (key.starts_with(variantKey)) {
    auto target = parseSchedule(key.substr(variantKey.size()) + ":");
    if (!target) {
      return std::nullopt;
    }
    return ruleFor(target->variant, sizes, ChipSummary{})
        .with("STREAMING", schedule.get("STREAMING"));
  }
  auto changes = parseSchedule("flat:" + key);
  if (!changes || changes->constants.empty()) {
    return std::nullopt;
  }
  Schedule changed = schedule;
  for (const auto &[name, value] : changes->constants) {
    if (schedule.get(name, -1) < 0) {
      return std::nullopt;
    }
    changed = changed.with(name, value);
  }
  return changed;
}

std::vector<Neighbour> neighbours(const FusedOperator &fused, const Schedule &schedule,
                                  const CaseSizes &sizes, DType dtype, const ChipSummary &chip,
                                  const Diagnosis &diagnosis, const Patterns *patterns,
                                  const std::vector<Schedule> &tried) {
  std::vector<Neighbour> list = Explorer(fused, schedule, sizes, chip, diagnosis, tried).run();
  if (patterns) {
    auto known = patterns->lookup(fused.kind(), sizes, dtype, chip);
    for (Neighbour &neighbour : list) {
      for (const Pattern *pattern : known) {
        if (pattern->change == neighbour.key && pattern->variant == variantName(schedule.variant)) {
          neighbour.expectedGain = pattern->gain;
          neighbour.reason += fmt::format(" (gained {:.2f}x before)", pattern->gain);
          break;
        }
      }
    }
  }
  std::multimap<double, Neighbour, std::greater<>> byGain;
  for (Neighbour &neighbour : list) {
    byGain.emplace(neighbour.expectedGain, std::move(neighbour));
  }
  list.clear();
  for (auto &[gain, neighbour] : byGain) {
    list.push_back(std::move(neighbour));
  }
  return list;
}

} // namespace nereid::generator
