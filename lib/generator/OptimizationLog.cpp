// SPDX-License-Identifier: Apache-2.0
// Markdown of the optimisation rounds, see OptimizationLog.h.
#include "lib/generator/OptimizationLog.h"

#include "lib/generator/schedules/Bottleneck.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace nereid::generator {
namespace {

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// One in a line.
std::string constantsOf(std::string schedule) {
  std::replace(schedule.begin(), schedule.end(), ',', '\n');
  return schedule + "\n";
}

/// What one share was and became, where it moved by more than a measurement differs from itself.
std::string moved(const char *what, double before, double after) {
  constexpr double least = 0.05;
  return std::abs(after - before) < least
             ? ""
             : fmt::format("{} {:.0f} % -> {:.0f} %", what, 100 * before, 100 * after);
}

/// Of what was measured beside both versions all that moved.
std::string movesText(const RoundRecord &round) {
  const Diagnosis &a = round.before, &b = round.after;
  std::vector<std::string> moves;
  for (std::string move :
       {moved("share of the bandwidth", a.bandwidthFraction, b.bandwidthFraction),
        moved("share of the peak arithmetic", a.computeFraction, b.computeFraction),
        moved("threads without a program", a.idleFraction, b.idleFraction),
        moved("time spent launching", a.launchFraction, b.launchFraction)}) {
    if (!move.empty()) {
      moves.push_back(std::move(move));
    }
  }
  return moves.empty() ? "no share that was measured moved by 5 points"
                       : fmt::format("{}", fmt::join(moves, ", "));
}

/// Why it came out as it did, as far as that was measured; "" of a record that does not say.
std::string whyText(const RoundRecord &round) {
  switch (round.outcome) {
  case RoundOutcome::Unknown:
    return "";
  case RoundOutcome::Kept:
    return "it worked: " + movesText(round);
  case RoundOutcome::Wrong:
    return "it is not right everywhere, or cannot be launched: its time would say nothing";
  case RoundOutcome::Loss:
    return "it costs more than it saves: " + movesText(round);
  case RoundOutcome::Untold:
    return "the two versions differ by less than their noise, or than what counts as a gain: " +
           movesText(round);
  case RoundOutcome::Unconfirmed:
    return "the first comparison said a gain and one on other data did not: " + movesText(round);
  }
  return "";
}

std::string caseText(const RoundRecord &round) {
  return round.sizes.empty() ? fmt::format("`{}`", round.caseName)
                             : fmt::format("`{}` ({})", round.caseName, round.sizes);
}

/// "latency: 11 % of …", with the class in front once.
std::string problemText(const Diagnosis &found) {
  const std::string name(bottleneckName(found.bottleneck));
  const std::string text = bottleneckText(found.bottleneck, found);
  return text.starts_with(name + ":") ? text : name + ": " + text;
}

/// Names of constants in the order in which the schedules of all rounds name them.
std::vector<std::string> constantNames(const std::vector<RoundRecord> &rounds) {
  std::vector<std::string> names;
  for (const RoundRecord &round : rounds) {
    for (const std::string &text : {round.scheduleBefore, round.scheduleAfter}) {
      const auto schedule = parseSchedule(text);
      for (const auto &[name, value] : schedule ? schedule->constants : Schedule().constants) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
          names.push_back(name);
        }
      }
    }
  }
  return names;
}

/// "| 64 | 256 ": the schedule's values of choices, or those of none.
std::string parameterCells(const std::string &text, const std::vector<std::string> &names) {
  const auto schedule = parseSchedule(text);
  std::string cells;
  for (const std::string &name : names) {
    const int64_t value = schedule ? schedule->get(name, -1) : -1;
    cells += value < 0 ? "| - " : fmt::format("| {} ", value);
  }
  return cells;
}

/// All rounds on one page: what a version was made of, why, and how much quicker than the baseline
/// it was, timed beside it.
std::string roundsTable(const Manifest &manifest) {
  if (manifest.rounds.empty()) {
    return "";
  }
  const std::vector<std::string> names = constantNames(manifest.rounds);
  std::string head = "| round | case | type ", rule = "|---|---|---";
  for (const std::string &name : names) {
    head += fmt::format("| {} ", name);
    rule += "|---";
  }
  std::string text =
      "## Rounds\n\n" + head + "| reason | speed-up | |\n" + rule + "|---|---|---|\n";
  std::set<std::pair<std::string, std::string>> begun;
  for (const RoundRecord &round : manifest.rounds) {
    const std::string who = fmt::format("| {} | {} ", round.caseName, round.dtype);
    if (begun.insert({round.caseName, round.dtype}).second) {
      text += fmt::format("| - {}{}| before its first round | {:.3f}x | |\n", who,
                          parameterCells(round.scheduleBefore, names), round.speedupBefore);
    }
    text += fmt::format("| {} {}{}| {} | {} | {} |\n", round.round, who,
                        parameterCells(round.scheduleAfter, names), round.reason,
                        round.isVerified ? fmt::format("{:.3f}x -> {:.3f}x", round.speedupBefore,
                                                       round.speedupAfter)
                                         : "not timed",
                        round.isKept ? "kept" : "taken back");
  }
  return text + "\n";
}

/// What the schedule's tiles say, as far as that is known.
std::string tilesText(const Diagnosis &found) {
  if (found.runBytes <= 0) {
    return "";
  }
  std::string text =
      fmt::format("- **Tiles** runs of {:.0f} bytes, {:.0f} % of the places of their "
                  "waves taken",
                  found.runBytes, 100 * found.waveFraction);
  if (found.readsOfByte > 0) {
    text += fmt::format(", each byte moved {:.1f} times, {:.2f} times the room of a tile",
                        found.readsOfByte, found.pressure);
  }
  return text + "\n";
}

std::string roundText(const Manifest &manifest, const RoundRecord &round, double target) {
  std::string text = fmt::format("## Round {}: {}\n\n", round.round, round.change);
  text += fmt::format("- **Version** {}.{}, case {}, {}; target {:.2f}x\n", manifest.operatorName,
                      round.round, caseText(round), round.dtype, target);
  const Diagnosis &before = round.before;
  text += fmt::format("- **Before** {:.3f}x the baseline, {:.0f} % of the {} bandwidth, {:.0f} % "
                      "of the peak arithmetic\n"
                      "- **Problem** {}\n",
                      round.speedupBefore, before.bandwidthFraction * 100,
                      before.isBeyondCache ? "copy" : "cache", before.computeFraction * 100,
                      problemText(round.asked));
  text += fmt::format("- **Parallelism** {} programs, threads without one {:.0f} % of the time, "
                      "{:.0f} % of it spent launching\n",
                      before.programs, before.idleFraction * 100, before.launchFraction * 100);
  text += tilesText(before);
  text += fmt::format("- **Change** of class parameter, touches `_triton.py` alone: {}\n",
                      round.change);
  text +=
      fmt::format("- **Idea** {}\n- **Expected effect** {:.2f} times as fast by the cost model, "
                  "{:.3f}x -> {:.3f}x the baseline\n\n",
                  round.reason, round.expectedGain, round.speedupBefore,
                  round.speedupBefore * round.expectedGain);
  text += diffSnippet(constantsOf(round.scheduleBefore), constantsOf(round.scheduleAfter));
  if (!round.codeDifference.empty()) {
    text += fmt::format("\nIn `{}_triton.py`:\n\n```diff\n{}```\n", manifest.operatorName,
                        round.codeDifference);
  }
  if (!round.isVerified) {
    text += "\n- **Result** not timed: the accuracy check failed\n";
  } else {
    // What was gained, and whether it can be told from noise, is the conclusion's: a quotient of
    // two speed-ups would have the noise of both baselines in it.
    text +=
        fmt::format("\n- **Result** {:.3f}x the baseline; the target is {}reached in this case\n",
                    round.speedupAfter, round.speedupAfter >= target ? "" : "not ");
  }
  if (const std::string why = whyText(round); !why.empty()) {
    text += fmt::format("- **Why** {}\n", why);
  }
  const char *decided = round.isKept ? "kept" : "taken back";
  text +=
      fmt::format("- **Conclusion** {}\n", round.conclusion.empty() ? decided : round.conclusion);
  text += round.next.empty() ? "" : fmt::format("- **Next** in this case: {}\n", round.next);
  return text + "\n";
}

std::string summaryText(const Manifest &manifest, const LogSummary &summary) {
  std::string text =
      "## Summary\n\n| case | type | speed-up before | speed-up after | rounds kept |"
      "\n|---|---|---|---|---|\n";
  struct Total {
    const RoundRecord *first = nullptr;
    double best = 0;
    int kept = 0, all = 0;
  };
  std::map<std::pair<std::string, std::string>, Total> totals;
  for (const RoundRecord &round : manifest.rounds) {
    Total &total = totals[{round.caseName, round.dtype}];
    if (!total.first) {
      total.first = &round;
      total.best = round.speedupBefore;
    }
    ++total.all;
    if (round.isKept) {
      ++total.kept;
      total.best = round.speedupAfter;
    }
  }
  for (const auto &[key, total] : totals) {
    text += fmt::format("| {} | {} | {:.3f}x | {:.3f}x | {} of {} |\n", key.first, key.second,
                        total.first->speedupBefore, total.best, total.kept, total.all);
  }
  const std::string reached =
      !summary.speedup
          ? "not told, no case was measured steadily enough"
          : fmt::format("{}reached, {:.3f}x on average over the cases",
                        *summary.speedup < summary.targetSpeedup ? "not " : "", *summary.speedup);
  text += fmt::format("\nTarget {:.2f}x: {}.", summary.targetSpeedup, reached);
  text += summary.stopReason.empty() ? " Still running.\n"
                                     : fmt::format(" Stopped: {}.\n", summary.stopReason);
  if (!summary.criteria.empty()) {
    const bool isPassed = summary.speedup && *summary.speedup >= summary.targetSpeedup;
    text += fmt::format("\n{}, which the speed-up decides. Criteria:\n\n",
                        isPassed ? "PASSED" : "NOT PASSED");
    for (const std::string &one : summary.criteria) {
      text += "- " + one + "\n";
    }
  }
  std::string worked, failed;
  for (const RoundRecord &round : manifest.rounds) {
    const std::string why = whyText(round);
    const std::string entry = fmt::format("- {} ({}, {}){}\n", round.change, round.caseName,
                                          round.dtype, why.empty() ? "" : ": " + why);
    (round.isKept ? worked : failed) += entry;
  }
  text += worked.empty() ? "" : "\nWhat worked:\n" + worked;
  text += failed.empty() ? "" : "\nWhat did not:\n" + failed;
  text += summary.next.empty() ? "" : "\nWhat to try next:\n";
  for (const std::string &one : summary.next) {
    text += "- " + one + "\n";
  }
  return text;
}

} // namespace

std::string diffSnippet(const std::string &before, const std::string &after) {
  if (before == after) {
    return "";
  }
  std::vector<std::string> a = linesOf(before), b = linesOf(after);
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) {
    ++head;
  }
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  constexpr size_t context = 2;
  std::string text = "```diff\n";
  for (size_t i = head - std::min(head, context); i < head; ++i) {
    text += "  " + a[i] + "\n";
  }
  for (size_t i = head; i < a.size() - tail; ++i) {
    text += "- " + a[i] + "\n";
  }
  for (size_t i = head; i < b.size() - tail; ++i) {
    text += "+ " + b[i] + "\n";
  }
  for (size_t i = a.size() - tail; i < a.size() - tail + std::min(tail, context); ++i) {
    text += "  " + a[i] + "\n";
  }
  return text + "```\n";
}

std::string writeOptimizationLog(const Manifest &manifest, const LogSummary &summary) {
  std::string text = fmt::format("# Optimisation of {}\n\n", manifest.operatorName);
  text +=
      fmt::format("Chip: {}. Target: {:.2f}x the unfused baseline. Start: {}. Accuracy is checked "
                  "before every measurement; a round compares both versions alternately in one "
                  "run.\n\n",
                  manifest.chip.empty() ? "unknown" : manifest.chip, summary.targetSpeedup,
                  startName(manifest.start));
  text += summary.fusion.empty() ? "" : "## Fusion\n\n" + summary.fusion;
  text += roundsTable(manifest);
  for (const RoundRecord &round : manifest.rounds) {
    text += roundText(manifest, round, summary.targetSpeedup);
  }
  return text + summaryText(manifest, summary);
}

} // namespace nereid::generator
