// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Optimization.h"

#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

namespace nereid::develop {

using generator::Generation;
using generator::Neighbour;
using generator::RoundRecord;
using generator::Schedule;

namespace {

/// A change must be this much quicker, and significantly so, to be kept.
constexpr double leastGain = 1.02;
constexpr double significance = 0.05;

const definition::Case *findCase(const definition::Operator &op, const std::string &name) {
  for (const auto &testCase : op.performanceCases) {
    if (testCase.name == name) {
      return &testCase;
    }
  }
  return nullptr;
}

/// The unfinished row farthest from its roofline, or null.
PerformanceRow *worstRow(std::vector<PerformanceRow> &rows, const definition::Operator &op,
                         double goodFraction,
                         const std::vector<const PerformanceRow *> &exhausted) {
  PerformanceRow *worst = nullptr;
  for (auto &row : rows) {
    bool isDone = !row.skipped.empty() || isGoodEnough(row, op.targetSpeedup, goodFraction) ||
                  std::find(exhausted.begin(), exhausted.end(), &row) != exhausted.end();
    if (!isDone && (worst == nullptr || row.rooflineFraction < worst->rooflineFraction)) {
      worst = &row;
    }
  }
  return worst;
}

generator::Diagnosis diagnose(const PerformanceRow &row) {
  generator::Diagnosis diagnosis;
  diagnosis.bandwidthFraction = row.bandwidthFraction;
  diagnosis.computeFraction = row.computeFraction;
  double seconds = row.kernel.summary.median;
  diagnosis.launchFraction = seconds > 0 ? std::min(1.0, row.launchSeconds / seconds) : 0;
  return diagnosis;
}

/// What earlier runs tried from the schedule the row has now.
std::vector<Schedule> triedBefore(const std::vector<RoundRecord> &rounds,
                                  const PerformanceRow &row) {
  std::vector<Schedule> result;
  for (const auto &round : rounds) {
    bool isSame = round.caseName == row.caseName && round.dtype == torchName(row.dtype) &&
                  round.scheduleBefore == row.schedule.text();
    auto after = generator::parseSchedule(round.scheduleAfter);
    if (isSame && after) {
      result.push_back(*after);
    }
  }
  return result;
}

std::string conclude(const Duel &duel, const Neighbour &neighbour, bool isKept) {
  if (!duel.failure.empty()) {
    return "rejected: " + duel.failure;
  }
  std::string figures = fmt::format("{} -> {}, {} (expected {}), p = {:.2g}",
                                    report::formatSeconds(duel.before.kernel.summary.median),
                                    report::formatSeconds(duel.after.kernel.summary.median),
                                    report::formatRatio(duel.gain),
                                    report::formatRatio(neighbour.expectedGain), duel.pValue);
  if (isKept) {
    return "kept: " + figures;
  }
  return (duel.gain > 1 ? "not kept, gain within the noise: " : "not kept, no gain: ") + figures;
}

Status writeSources(generator::Project &project, const Generation &generation,
                    generator::ChangeClass changeClass) {
  if (changeClass == generator::ChangeClass::Parameter) {
    return project.writeFile(
        {generation.fused.op.name + "_triton.py", generator::writeTriton(generation)});
  }
  return project.writeFiles(generator::writeFiles(generation));
}

void learn(generator::Patterns &patterns, const Generation &generation, const Neighbour &neighbour,
           const definition::Case &testCase, DType dtype, const generator::ChipSummary &chip,
           double gain) {
  generator::Pattern pattern;
  pattern.operatorKind = generation.fused.kind();
  pattern.variant = generator::variantName(neighbour.schedule.variant);
  auto sizes = generator::sizesOf(generation.fused, testCase.binding, dtype);
  pattern.condition = generator::conditionFor(sizes, dtype, chip);
  pattern.change = neighbour.change;
  pattern.gain = gain;
  pattern.count = 1;
  pattern.lastSeen = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  patterns.record(pattern);
}

} // namespace

bool isGoodEnough(const PerformanceRow &row, double targetSpeedup, double goodFraction) {
  if (!row.failure.empty() || row.kernel.summary.count == 0) {
    return false;
  }
  bool isNearRoofline = row.rooflineFraction >= goodFraction || !row.isBeyondCache;
  return row.speedup >= targetSpeedup && isNearRoofline;
}

Result<OptimizationResult> optimize(generator::Project &project, Generation &generation,
                                    std::vector<PerformanceRow> &rows, const measure::Chip &chip,
                                    generator::Patterns &patterns,
                                    const OptimizationOptions &options) {
  OptimizationResult result;
  if (!overallSpeedup(rows)) {
    result.stopReason = "nothing measured to improve";
    return result;
  }
  const auto &op = generation.fused.op;
  auto summary = summarizeChip(chip);
  std::map<const PerformanceRow *, std::vector<Schedule>> tried;
  std::vector<const PerformanceRow *> exhausted;
  int first = static_cast<int>(project.manifest.rounds.size());
  while (static_cast<int>(result.rounds.size()) < options.rounds) {
    if (isInterrupted()) {
      result.isInterrupted = true;
      result.stopReason = "interrupted";
      return result;
    }
    PerformanceRow *row = worstRow(rows, op, options.goodFraction, exhausted);
    if (row == nullptr) {
      result.stopReason = exhausted.empty() ? "target reached" : "no untried change left";
      return result;
    }
    const definition::Case *testCase = findCase(op, row->caseName);
    auto sizes = generator::sizesOf(generation.fused, testCase->binding, row->dtype);
    auto &seen = tried[row];
    if (seen.empty()) {
      seen = triedBefore(project.manifest.rounds, *row);
    }
    seen.push_back(row->schedule);
    auto candidates = generator::neighbours(generation.fused, row->schedule, sizes, row->dtype,
                                            summary, diagnose(*row), &patterns, seen);
    if (candidates.empty()) {
      exhausted.push_back(row);
      continue;
    }
    const Neighbour &change = candidates.front();
    seen.push_back(change.schedule);
    Duel outcome = duel(generation, *testCase, row->dtype, row->schedule, change.schedule, chip,
                        options.performance);
    bool isKept =
        outcome.failure.empty() && outcome.gain >= leastGain && outcome.pValue < significance;

    RoundRecord record;
    record.round = first + static_cast<int>(result.rounds.size()) + 1;
    record.caseName = row->caseName;
    record.dtype = torchName(row->dtype);
    record.changeClass = generator::changeClassName(change.changeClass);
    record.change = change.change;
    record.reason = change.reason;
    record.scheduleBefore = row->schedule.text();
    record.scheduleAfter = change.schedule.text();
    record.speedupBefore = row->speedup;
    record.speedupAfter = outcome.failure.empty() ? row->speedup * outcome.gain : 0;
    record.expectedGain = change.expectedGain;
    record.bandwidthFraction = row->bandwidthFraction;
    record.computeFraction = row->computeFraction;
    record.isVerified = outcome.after.isVerified;
    record.isKept = isKept;
    record.conclusion = conclude(outcome, change, isKept);
    options.progress(fmt::format("round {}: {} on {}: {}", record.round, record.change,
                                 record.caseName, record.conclusion));
    if (outcome.failure.empty()) {
      learn(patterns, generation, change, *testCase, row->dtype, summary, outcome.gain);
    }
    if (isKept) {
      auto caseClass =
          generator::classify(generation.fused, testCase->binding, row->dtype, summary);
      generation.table.set(caseClass, change.schedule, fmt::format("round {}", record.round));
      project.manifest.table = generation.table;
      if (auto written = writeSources(project, generation, change.changeClass); !written) {
        return written.error();
      }
      row->schedule = change.schedule;
      row->kernel = outcome.after.kernel;
      row->speedup *= outcome.gain;
      row->rooflineFraction = outcome.after.rooflineFraction;
      row->bandwidthFraction = outcome.after.bandwidthFraction;
      row->computeFraction = outcome.after.computeFraction;
    }
    result.rounds.push_back(record);
    project.manifest.rounds.push_back(record);
    if (auto saved = project.saveManifest(); !saved) {
      return saved.error();
    }
    auto log = generator::writeOptimizationLog(project.manifest, {op.targetSpeedup, ""});
    if (auto written = project.writeFile({"optimization_log.md", log}); !written) {
      return written.error();
    }
  }
  result.stopReason = worstRow(rows, op, options.goodFraction, exhausted) == nullptr
                          ? "target reached"
                          : "all rounds used";
  return result;
}

} // namespace nereid::develop
