// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Optimization.h"

#include "lib/develop/edits/LineDiff.h"
#include "lib/develop/performance/Duel.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/generator/schedules/Bottleneck.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>

namespace nereid::develop {

using generator::Generation;
using generator::Neighbour;
using generator::RoundRecord;
using generator::Schedule;
using measure::leastGain;
using measure::mostChance;

namespace {

const definition::Case *findCase(const definition::Operator &op, const std::string &name) {
  for (const auto &testCase : op.performanceCases) {
    if (testCase.name == name) {
      return &testCase;
    }
  }
  return nullptr;
}

/// The unfinished row farthest from its roofline, or null. Rows from memory come first: what a
/// cache can do is known less well, and there is less to gain.
PerformanceRow *worstRow(std::vector<PerformanceRow> &rows, const definition::Operator &op,
                         double goodFraction,
                         const std::vector<const PerformanceRow *> &exhausted) {
  PerformanceRow *worst = nullptr;
  for (auto &row : rows) {
    bool isDone = !row.skipped.empty() || isGoodEnough(row, op.targetSpeedup, goodFraction) ||
                  std::find(exhausted.begin(), exhausted.end(), &row) != exhausted.end();
    auto urgency = [](const PerformanceRow &one) {
      return std::pair(!one.isBeyondCache, one.rooflineShare());
    };
    if (!isDone && (worst == nullptr || urgency(row) < urgency(*worst))) {
      worst = &row;
    }
  }
  return worst;
}

generator::Diagnosis diagnose(const PerformanceRow &row, const Generation &generation,
                              const definition::Case &testCase, const Machine &chip) {
  generator::Diagnosis diagnosis;
  diagnosis.bandwidthFraction = row.bandwidthShare();
  diagnosis.computeFraction = row.computeShare();
  diagnosis.isBeyondCache = row.isBeyondCache;
  diagnosis.idleFraction = row.idleFraction;
  double seconds = row.kernel.summary.median;
  diagnosis.launchFraction = seconds > 0 ? std::min(1.0, row.launchSeconds / seconds) : 0;
  auto plan = generator::planCall(generation, row.schedule, testCase.binding, row.dtype);
  diagnosis.programs = plan ? plan->programs() : 0;
  generation.describe(row.schedule, testCase.binding, row.dtype, chip, diagnosis);
  return diagnosis;
}

/// One choice alone is another one.
bool isCareful(const Schedule &before, const Schedule &after) {
  int changed = 0;
  for (const auto &[name, value] : after.constants) {
    changed += before.get(name, -1) != value ? 1 : 0;
  }
  return changed == 1;
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

/// What came of one change.
struct Outcome {
  Duel first;                 ///< decides
  std::optional<Duel> second; ///< of a gain: other data, has to agree
  std::string wrong;          ///< what the whole grid said of a version that was to be kept

  bool isGain() const {
    auto isOne = [](const Duel &duel) {
      return duel.failure.empty() && develop::isGain(duel.evidence);
    };
    return isOne(first) && second && isOne(*second);
  }
  bool isKept() const { return isGain() && wrong.empty(); }
  const Duel &last() const { return second ? *second : first; }
};

/// Why it says nothing, however much the versions differ.
std::string doubtOf(const measure::Evidence &evidence) {
  return evidence.isShort ? ", too few samples"
         : evidence.isNoisy()
             ? fmt::format(", noisy: samples deviate by {:.0f} %", 100 * evidence.deviation)
             : "";
}

std::string figuresOf(const Duel &duel) {
  return fmt::format("{} -> {}, {}, noise {}, p = {:.2g}{}",
                     report::formatSeconds(duel.before.kernel.summary.median),
                     report::formatSeconds(duel.after.kernel.summary.median),
                     report::formatRatio(duel.evidence.gain),
                     report::formatRatio(duel.evidence.noise), duel.evidence.pValue,
                     doubtOf(duel.evidence));
}

generator::RoundOutcome outcomeOf(const Outcome &outcome) {
  using generator::RoundOutcome;
  if (!outcome.first.failure.empty() || !outcome.last().failure.empty() || !outcome.wrong.empty()) {
    return RoundOutcome::Wrong;
  }
  if (outcome.isKept()) {
    return RoundOutcome::Kept;
  }
  return outcome.first.evidence.isLoss(leastGain, mostChance) ? RoundOutcome::Loss
         : outcome.second                                     ? RoundOutcome::Unconfirmed
                                                              : RoundOutcome::Untold;
}

/// "D = 4096, ... = 8x2048".
std::string sizesText(const definition::Binding &binding) {
  std::string text;
  for (const auto &[symbol, size] : binding.symbols) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", symbol, size);
  }
  if (!binding.rest.empty()) {
    text += fmt::format("{}... = {}", text.empty() ? "" : ", ", fmt::join(binding.rest, "x"));
  }
  return text;
}

std::string conclude(const Outcome &outcome, const Neighbour &neighbour) {
  for (const Duel *duel : {&outcome.first, &outcome.last()}) {
    if (!duel->failure.empty()) {
      return "rejected: " + duel->failure;
    }
  }
  if (!outcome.wrong.empty()) {
    return "rejected: " + outcome.wrong;
  }
  const std::string figures = fmt::format("{} (expected {})", figuresOf(outcome.first),
                                          report::formatRatio(neighbour.expectedGain)) +
                              (outcome.second ? "; again " + figuresOf(*outcome.second) : "");
  if (outcome.isKept()) {
    return "kept: " + figures;
  }
  if (outcome.first.evidence.isLoss(leastGain, mostChance)) {
    return "not kept, a loss: " + figures;
  }
  return outcome.second ? "not kept, a second comparison does not confirm it: " + figures
                        : "not kept, not told apart: " + figures;
}

/// What is known of one change is remembered: gains that were confirmed, and losses.
void learn(generator::Patterns &patterns, const Generation &generation, const Neighbour &neighbour,
           const Schedule &before, const definition::Case &testCase, DType dtype,
           const Machine &chip, const measure::Evidence &evidence) {
  generator::Pattern pattern;
  pattern.operatorKind = generator::roleOfChange(neighbour.key);
  auto sizes = generation.sizesFor(neighbour.key, testCase.binding, dtype);
  pattern.condition = generator::conditionFor(sizes, dtype, chip);
  pattern.change = neighbour.key;
  pattern.from = neighbour.from;
  pattern.gain = evidence.gain;
  pattern.pValue = evidence.pValue;
  pattern.count = 1;
  pattern.lastSeen = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  patterns.record(pattern);
}

} // namespace

bool isGain(const measure::Evidence &evidence) { return evidence.isGain(leastGain, mostChance); }

bool isGoodEnough(const PerformanceRow &row, double targetSpeedup, double goodFraction) {
  if (!row.failure.empty() || !row.isDecisive() || row.kernel.summary.count == 0) {
    return false;
  }
  bool isNearRoofline = row.rooflineShare() >= goodFraction || !row.isBeyondCache;
  return row.speedup >= targetSpeedup && isNearRoofline;
}

namespace {

/// The rounds of one run.
class Rounds {
public:
  Rounds(generator::Project &project, Generation &generation, std::vector<PerformanceRow> &rows,
         const Machine &chip, generator::Patterns &patterns, const OptimizationOptions &options)
      : project(project), generation(generation), op(generation.op()), rows(rows), chip(chip),
        patterns(patterns), options(options) {}

  /// All rounds, and what is left to try behind them.
  Result<OptimizationResult> run() {
    result.earlier = static_cast<int>(project.manifest.rounds.size());
    result.most = options.rounds;
    auto done = runRounds();
    if (done && !done->isInterrupted) {
      for (const PerformanceRow &row : rows) {
        if (auto next = nextOf(row)) {
          done->next.push_back(std::move(*next));
        }
      }
    }
    return done;
  }

private:
  Result<OptimizationResult> runRounds();
  /// The best change that should gain; nothing when the row has none that was not tried.
  std::optional<Neighbour> bestChange(const PerformanceRow &row);
  /// The same, which counts as tried from then on.
  std::optional<Neighbour> nextChange(const PerformanceRow &row);
  Outcome compare(const PerformanceRow &row, const Neighbour &change);
  /// The schedules with the change in its row's class.
  generator::ScheduleTable tableWith(const PerformanceRow &row, const Neighbour &change) const;
  /// What the change makes of the kernel's file.
  std::string codeDifference(const PerformanceRow &row, const Neighbour &change) const;
  /// Enters the change into the project; what the whole grid then says takes it out again.
  Status keep(PerformanceRow &row, const Neighbour &change, Outcome &outcome);
  /// What a row that is not where it should be still has before it.
  std::optional<std::string> nextOf(const PerformanceRow &row);
  /// "map.BLOCK_X 2 -> 8, expected to gain 1.40x: …; bound by latency: …".
  std::string directionOf(const PerformanceRow &row);
  RoundRecord recordOf(const PerformanceRow &row, const Neighbour &change,
                       const generator::Diagnosis &asked, const Outcome &outcome) const;
  Status save(const RoundRecord &record);

  /// "`large` (D = 4096, float32)".
  std::string whoOf(const PerformanceRow &row) const {
    const std::string sizes = sizesText(caseOf(row).binding);
    return fmt::format("`{}` ({}{})", row.caseName, sizes.empty() ? "" : sizes + ", ",
                       torchName(row.dtype));
  }
  int roundNumber() const { return static_cast<int>(project.manifest.rounds.size()) + 1; }
  const definition::Case &caseOf(const PerformanceRow &row) const {
    return *findCase(op, row.caseName);
  }

  generator::Project &project;
  Generation &generation;
  const definition::Operator &op;
  std::vector<PerformanceRow> &rows;
  const Machine &chip;
  generator::Patterns &patterns;
  const OptimizationOptions &options;
  std::map<const PerformanceRow *, std::vector<Schedule>> tried;
  OptimizationResult result;
};

std::optional<Neighbour> Rounds::bestChange(const PerformanceRow &row) {
  auto &seen = tried[&row];
  if (seen.empty()) {
    seen = triedBefore(project.manifest.rounds, row);
  }
  if (std::find(seen.begin(), seen.end(), row.schedule) == seen.end()) {
    seen.push_back(row.schedule);
  }
  auto candidates =
      generation.neighbourhood(row.schedule, caseOf(row).binding, row.dtype, chip, seen)
          .of(diagnose(row, generation, caseOf(row), chip), &patterns);
  if (options.isConservative) {
    std::erase_if(candidates,
                  [&](const Neighbour &one) { return !isCareful(row.schedule, one.schedule); });
  }
  return candidates.empty() ? std::nullopt : std::optional(std::move(candidates.front()));
}

std::optional<Neighbour> Rounds::nextChange(const PerformanceRow &row) {
  std::optional<Neighbour> change = bestChange(row);
  if (change) {
    tried[&row].push_back(change->schedule);
  }
  return change;
}

Outcome Rounds::compare(const PerformanceRow &row, const Neighbour &change) {
  PerformanceOptions performance = options.performance;
  auto once = [&] {
    return options.compare(generation, caseOf(row), row.dtype, row.schedule, change.schedule, chip,
                           performance, roundNumber());
  };
  Outcome outcome{once(), std::nullopt, ""};
  if (outcome.first.failure.empty() && isGain(outcome.first.evidence)) {
    ++performance.seed;
    outcome.second = once();
  }
  return outcome;
}

generator::ScheduleTable Rounds::tableWith(const PerformanceRow &row,
                                           const Neighbour &change) const {
  generator::ScheduleTable table = generation.table;
  const definition::Binding &binding = caseOf(row).binding;
  table.set(generation.classOf(binding, row.dtype),
            generation.keptOf(change.schedule, binding, row.dtype),
            fmt::format("round {}: {}; expected {:.2f}x", roundNumber(), change.reason,
                        change.expectedGain));
  return table;
}

std::string Rounds::codeDifference(const PerformanceRow &row, const Neighbour &change) const {
  constexpr size_t mostLines = 60; // a form that changes is a kernel that changes
  Generation changed = generation;
  changed.table = tableWith(row, change);
  return diffText(generator::writeTriton(generation), generator::writeTriton(changed), mostLines);
}

Status Rounds::keep(PerformanceRow &row, const Neighbour &change, Outcome &outcome) {
  const generator::ScheduleTable before = generation.table;
  auto enter = [&](const generator::ScheduleTable &table) {
    generation.table = table;
    project.manifest.table = table;
    return project.writeFiles(generator::writeFiles(generation)); // of them the kernel's changes
  };
  if (auto written = enter(tableWith(row, change)); !written) {
    return written;
  }
  outcome.wrong = options.verifyAll();
  if (!outcome.wrong.empty()) {
    return enter(before);
  }
  row = outcome.last().after;
  return Done{};
}

RoundRecord Rounds::recordOf(const PerformanceRow &row, const Neighbour &change,
                             const generator::Diagnosis &asked, const Outcome &outcome) const {
  RoundRecord record;
  record.round = roundNumber();
  record.caseName = row.caseName;
  record.dtype = torchName(row.dtype);
  record.change = change.change;
  record.reason = change.reason;
  record.scheduleBefore = outcome.first.before.schedule.text();
  record.scheduleAfter = change.schedule.text();
  // Both against the baseline that was timed beside them.
  record.speedupBefore = outcome.last().before.speedup;
  record.speedupAfter = outcome.last().failure.empty() ? outcome.last().after.speedup : 0;
  record.expectedGain = change.expectedGain;
  record.sizes = sizesText(caseOf(row).binding);
  record.asked = asked;
  record.before = diagnose(outcome.first.before, generation, caseOf(row), chip);
  if (outcome.last().failure.empty()) {
    record.after = diagnose(outcome.last().after, generation, caseOf(row), chip);
  }
  record.outcome = outcomeOf(outcome);
  record.isVerified = outcome.last().after.isVerified && outcome.wrong.empty();
  record.isKept = outcome.isKept();
  record.conclusion = conclude(outcome, change);
  return record;
}

std::optional<std::string> Rounds::nextOf(const PerformanceRow &row) {
  if (!row.skipped.empty() || isGoodEnough(row, op.targetSpeedup, options.goodFraction)) {
    return std::nullopt;
  }
  const std::string who = whoOf(row);
  if (!row.failure.empty()) {
    return fmt::format("{}: mend what is wrong before anything else: {}", who, row.failure);
  }
  if (!row.isDecisive()) {
    return fmt::format(
        "{}: measure again with a larger --seconds-per-case or on a quieter machine; "
        "its times say nothing",
        who);
  }
  return fmt::format("{}: {}", who, directionOf(row));
}

std::string Rounds::directionOf(const PerformanceRow &row) {
  const generator::Diagnosis found = diagnose(row, generation, caseOf(row), chip);
  const std::string bound =
      fmt::format("bound by {}", generator::bottleneckText(found.bottleneck, found));
  if (const std::optional<Neighbour> change = bestChange(row)) {
    return fmt::format("{}, expected to gain {}: {}; {}", change->change,
                       report::formatRatio(change->expectedGain), change->reason, bound);
  }
  return fmt::format("no schedule of this kernel is left that should gain; chapter 4 of "
                     "`{}_definition.md` has what else to change; {}",
                     op.name, bound);
}

Status Rounds::save(const RoundRecord &record) {
  options.progress(fmt::format("round {}: {} on {}: {}", record.round, record.change,
                               record.caseName, record.conclusion));
  result.rounds.push_back(record);
  project.manifest.rounds.push_back(record);
  if (auto saved = project.saveManifest(); !saved) {
    return saved;
  }
  auto log = generator::writeOptimizationLog(
      project.manifest, {op.targetSpeedup, overallSpeedup(rows), "", {}, {}, options.fusion});
  return project.writeFile({"optimization_log.md", log});
}

Result<OptimizationResult> Rounds::runRounds() {
  // Noisy rows decide no target; whether a change makes them quicker a comparison may still tell.
  if (std::all_of(rows.begin(), rows.end(), [](const auto &row) { return !row.skipped.empty(); })) {
    result.stopReason = "nothing measured to improve";
    return result;
  }
  std::vector<const PerformanceRow *> exhausted;
  while (true) {
    if (isInterrupted()) {
      result.isInterrupted = true;
      result.stopReason = "interrupted";
      return result;
    }
    PerformanceRow *row = worstRow(rows, op, options.goodFraction, exhausted);
    if (row == nullptr) {
      result.stopReason = exhausted.empty() ? "target reached"
                          : options.isConservative
                              ? "no change of one parameter is left that should gain"
                              : "no change is left that should gain";
      return result;
    }
    if (roundNumber() > options.rounds) {
      result.stopReason = options.rounds == 0 ? "no rounds are asked for" : "all rounds used";
      return result;
    }
    const std::optional<Neighbour> change = nextChange(*row);
    if (!change) {
      exhausted.push_back(row);
      continue;
    }
    const generator::Diagnosis asked = diagnose(*row, generation, caseOf(*row), chip);
    Outcome outcome = compare(*row, *change);
    if (isInterrupted()) {
      continue;
    }
    const Schedule before = row->schedule;
    const std::string difference = codeDifference(*row, *change); // before the change is entered
    if (outcome.isGain()) {
      if (auto kept = keep(*row, *change, outcome); !kept) {
        return kept.error();
      }
    }
    const measure::Evidence &evidence = outcome.last().evidence;
    if (outcome.isKept() ||
        (outcome.first.failure.empty() && evidence.isLoss(leastGain, mostChance))) {
      learn(patterns, generation, *change, before, caseOf(*row), row->dtype, chip, evidence);
    }
    RoundRecord record = recordOf(*row, *change, asked, outcome);
    record.codeDifference = difference;
    record.next = isGoodEnough(*row, op.targetSpeedup, options.goodFraction)
                      ? "nothing, the case is where it should be"
                      : directionOf(*row);
    if (auto saved = save(record); !saved) {
      return saved.error();
    }
  }
}

} // namespace

Result<OptimizationResult> optimize(generator::Project &project, Generation &generation,
                                    std::vector<PerformanceRow> &rows, const Machine &chip,
                                    generator::Patterns &patterns,
                                    const OptimizationOptions &options) {
  return Rounds(project, generation, rows, chip, patterns, options).run();
}

} // namespace nereid::develop
