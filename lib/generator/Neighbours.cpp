// SPDX-License-Identifier: Apache-2.0
// The next things to try: one change at a time, each an answer to a finding, best expectation
// first. Expectations are arithmetic where possible (a streaming store saves reading the line it
// replaces), never more than the measurement leaves to gain, and experience from patterns.json
// where there is some.
#include "lib/generator/Patterns.h"
#include "lib/generator/ScheduleRules.h"
#include "lib/measure/statistics/Evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace nereid::generator {
namespace {

/// From here on a kernel is as quick as the machine lets it be.
constexpr double nearLimit = 0.85;
/// Below, memory waits for something else than bytes.
constexpr double farFromLimit = 0.6;
/// Where nothing measured says how much there is to gain.
constexpr double largestGain = 10;
constexpr int64_t widestElement = 8; ///< bytes
/// Elements in the cache that take as long as the start of a run: addresses, mask, the broken
/// vector at its end. Blocks of 256 columns took 1.16 times what blocks of 1024 did.
constexpr double runStart = 56;

class Explorer {
public:
  Explorer(const FusedOperator &fused, const Schedule &schedule, const CaseSizes &sizes,
           const Machine &chip, const Diagnosis &diagnosis, const std::vector<Schedule> &tried)
      : fused(fused), schedule(schedule), sizes(sizes), chip(chip), diagnosis(diagnosis),
        tried(tried) {}

  std::vector<Neighbour> run() {
    blocks();
    streaming();
    grid();
    variants();
    return std::move(found);
  }

private:
  /// `gain`: what the model expects; 1 where the diagnosis does not ask for the change.
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
                     changeKey(changed, schedule), std::move(reason), std::min(gain, mostGain())});
  }

  /// Of the limit that is nearer, as far as the measurement says something about it.
  double limitFraction() const {
    return std::max(diagnosis.computeFraction,
                    diagnosis.isBeyondCache ? diagnosis.bandwidthFraction : 0.0);
  }
  /// At the limit of memory or arithmetic no schedule helps.
  double mostGain() const {
    const double fraction = limitFraction();
    return fraction >= nearLimit ? 1 : fraction > 0 ? 1 / fraction : largestGain;
  }
  bool isBoundByMemory() const {
    return diagnosis.isBeyondCache && diagnosis.bandwidthFraction >= diagnosis.computeFraction;
  }
  bool isFarFromMemory() const {
    return isBoundByMemory() && diagnosis.bandwidthFraction < farFromLimit;
  }
  bool fitsCache(double bytes) const { return bytes <= static_cast<double>(chip.lastCacheBytes()); }

  void streaming() {
    if (schedule.get("STREAMING") == 0) {
      const double saved = sizes.bytes > 0 ? (sizes.bytes + sizes.outputBytes) / sizes.bytes : 1;
      const bool isAsked = isBoundByMemory() && !fitsCache(sizes.outputBytes);
      propose(schedule.with("STREAMING", 1), "STREAMING 0 -> 1",
              "the output does not fit the last-level cache: streaming stores write it without "
              "reading it first",
              isAsked ? saved : 1);
    } else {
      propose(schedule.with("STREAMING", 0), "STREAMING 1 -> 0",
              "the output fits the last-level cache: ordinary stores leave it there",
              fitsCache(sizes.outputBytes) ? 1.1 : 1);
    }
  }

  void grid() {
    const bool hasSeveral = sizes.columns > schedule.get("BLOCK_N");
    if (schedule.variant != KernelVariant::Tiles || !hasSeveral) {
      return;
    }
    // What one row of an operand without rows takes; it is read again for every row of tiles.
    const bool isReused = static_cast<double>(sizes.columns * widestElement) >
                          static_cast<double>(chip.cacheBytes("L2")) / 2;
    if (schedule.get("GRID_2D") != 0) {
      propose(schedule.with("GRID_2D", 0), "GRID_2D 1 -> 0",
              "a one-dimensional grid walks each row to its end before the next, in the order of "
              "memory",
              isFarFromMemory() && !isReused ? 1.1 : 1);
    } else {
      propose(schedule.with("GRID_2D", 1), "GRID_2D 0 -> 1",
              "a two-dimensional grid keeps a block of the operand without rows in the cache while "
              "the rows go by",
              isBoundByMemory() && isReused ? 1.1 : 1);
    }
  }

  void multiplied(const char *name, int64_t factor, const char *reason, double gain) {
    const int64_t value = schedule.get(name, -1);
    if (value > 0) {
      propose(schedule.with(name, value * factor),
              fmt::format("{} {} -> {}", name, value, value * factor), reason, gain);
    }
  }
  void halved(const char *name, const char *reason, double gain) {
    const int64_t value = schedule.get(name, -1);
    if (value > 1) {
      propose(schedule.with(name, value / 2), fmt::format("{} {} -> {}", name, value, value / 2),
              reason, gain);
    }
  }

  /// Of the time that threads were idle, as much as the size of programs explains: at the end of a
  /// launch each thread waits for one program at most.
  double recoverableIdle() const {
    const double longest = diagnosis.programs > 0 ? static_cast<double>(chip.cores - 1) /
                                                        static_cast<double>(diagnosis.programs)
                                                  : 0;
    return std::min(diagnosis.idleFraction, longest);
  }

  void blocks() {
    const int64_t factor = diagnosis.launchFraction > 0.1 ? 4 : 2;
    const double larger = 1 + diagnosis.launchFraction * (1 - 1 / static_cast<double>(factor));
    const double smaller = 1 / (1 - recoverableIdle() / 2);
    for (const char *name : {"BLOCK", "ROWS", "BLOCK_M"}) {
      multiplied(name, factor, "fewer, larger programs spend less time in being handed out",
                 larger);
      halved(name, "threads were idle at the end: smaller programs share the work more evenly",
             smaller);
    }
    if (schedule.variant != KernelVariant::Rows) {
      columnBlocks();
    }
  }

  /// Runs that end within a row. From memory the prefetcher starts anew with every one of them, so
  /// that longer ones may give all that memory leaves to gain; in the cache what is computed once
  /// per run remains.
  double longerRuns() const {
    const int64_t columns = schedule.get("BLOCK_N");
    if (columns <= 0 || columns >= sizes.columns) {
      return 1;
    }
    return isBoundByMemory() ? 1.6 : waitsInCache() ? twiceTheRun(columns) : 1;
  }
  /// The cache was measured, and could move the bytes in less time.
  bool waitsInCache() const {
    return !diagnosis.isBeyondCache && diagnosis.bandwidthFraction > 0 &&
           diagnosis.bandwidthFraction < nearLimit && diagnosis.computeFraction < nearLimit;
  }
  /// Of the time in the cache, when half as many runs start.
  double twiceTheRun(int64_t columns) const {
    const auto elements = static_cast<double>(columns);
    return (elements + runStart) / (elements + runStart / 2);
  }

  void columnBlocks() {
    const int64_t m = schedule.get("BLOCK_M", 0), n = schedule.get("BLOCK_N");
    multiplied("BLOCK_N", 2,
               "longer contiguous runs use the prefetcher and the memory pages better",
               longerRuns());
    halved("BLOCK_N", "half of each block's columns lie behind the end of the row",
           n / 2 >= sizes.columns ? 1.2 : 1);
    // The same tile, another shape.
    if (m > 1) {
      propose(schedule.with("BLOCK_M", m / 2).with("BLOCK_N", n * 2),
              fmt::format("BLOCK_M {} -> {}, BLOCK_N {} -> {}", m, m / 2, n, n * 2),
              "a wider tile of the same size reads longer contiguous runs",
              longerRuns() > 1 && isBoundByMemory() ? 1.04 : longerRuns());
    }
  }

  void variants() {
    const bool isWide = sizes.columns > widestRowTile(chip);
    for (KernelVariant variant : variantsOf(fused)) {
      if (variant == schedule.variant) {
        continue;
      }
      const std::string change =
          fmt::format("variant {} -> {}", variantName(schedule.variant), variantName(variant));
      const Schedule changed =
          ruleFor(variant, sizes, chip).with("STREAMING", schedule.get("STREAMING"));
      // Another order of the arithmetic of a reduction: every file is written and checked again.
      const ChangeClass changeClass =
          fused.hasReduction ? ChangeClass::Logic : ChangeClass::Parameter;
      switch (variant) {
      case KernelVariant::LoopedRows:
        propose(changed, change, "column blocks stay in the cache where a whole row does not",
                isWide ? 1.2 : 1, changeClass);
        break;
      case KernelVariant::Rows:
        propose(changed, change, "a whole row as one tile reads its input only once",
                isWide ? 1 : 1.2, changeClass);
        break;
      case KernelVariant::Flat:
        propose(changed, change, "one flat dimension has no ends of rows", longerRuns(),
                changeClass);
        break;
      case KernelVariant::Tiles:
        propose(changed, change, "rows as a tile dimension", 1, changeClass);
        break;
      }
    }
  }

  const FusedOperator &fused;
  const Schedule &schedule;
  const CaseSizes &sizes;
  const Machine &chip;
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
    return ruleFor(target->variant, sizes, genericMachine())
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
                                  const CaseSizes &sizes, DType dtype, const Machine &chip,
                                  const Diagnosis &diagnosis, const Patterns *patterns,
                                  const std::vector<Schedule> &tried) {
  std::vector<Neighbour> list = Explorer(fused, schedule, sizes, chip, diagnosis, tried).run();
  if (patterns) {
    auto known = patterns->lookup(fused.kind(), sizes, dtype, chip);
    for (Neighbour &neighbour : list) {
      for (const Pattern *pattern : known) {
        if (pattern->change == neighbour.key && pattern->from == neighbour.from &&
            pattern->variant == variantName(schedule.variant)) {
          neighbour.expectedGain = pattern->gain;
          neighbour.reason += fmt::format(" (gained {:.2f}x before)", pattern->gain);
          break;
        }
      }
    }
  }
  std::multimap<double, Neighbour, std::greater<>> byGain;
  for (Neighbour &neighbour : list) {
    if (neighbour.expectedGain >= measure::leastGain) {
      byGain.emplace(neighbour.expectedGain, std::move(neighbour));
    }
  }
  list.clear();
  for (auto &[gain, neighbour] : byGain) {
    list.push_back(std::move(neighbour));
  }
  return list;
}

} // namespace nereid::generator
