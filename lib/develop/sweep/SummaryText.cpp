// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/sweep/SummaryText.h"

#include "lib/report/Table.h"
#include "lib/support/Version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace nereid::develop {
namespace {

constexpr size_t widestNote = 72;

std::string cut(const std::string &text) {
  std::string line = text.substr(0, text.find('\n'));
  if (report::displayWidth(line) <= widestNote) {
    return line;
  }
  size_t end = widestNote;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) {
    --end; // not inside of a character
  }
  return line.substr(0, end) + "…";
}

std::string problemText(const OperatorResult &result) {
  return result.code.empty() ? result.message : result.code + ": " + result.message;
}

std::string noteText(const OperatorResult &result) {
  std::vector<std::string> notes;
  if (result.isKept) {
    notes.emplace_back("done before");
  }
  if (const int skipped = result.cases().skipped; skipped > 0) {
    notes.push_back(fmt::format("{} case{} skipped", skipped, skipped == 1 ? "" : "s"));
  }
  if (result.state != OperatorState::Right) {
    if (!result.message.empty()) {
      notes.push_back(problemText(result));
    }
  } else if (result.decisiveCases < result.timedCases) {
    notes.push_back(fmt::format("{} of {} times unsteady", result.timedCases - result.decisiveCases,
                                result.timedCases));
  } else if (result.timedCases == 0) {
    notes.push_back(result.message.empty() ? "not timed" : result.message);
  }
  return fmt::format("{}", fmt::join(notes, "; "));
}

std::string rooflineText(const OperatorResult &result) {
  if (!result.rooflineShare) {
    return "-";
  }
  return (result.decisiveCases == 0 ? "~" : "") + report::formatPercent(*result.rooflineShare);
}

std::string targetText(const OperatorResult &result) {
  const std::string target = report::formatRatio(result.target);
  if (result.operatorClass.empty()) { // no definition, no target
    return "-";
  }
  return result.isTargetMet
             ? fmt::format("{} {}", *result.isTargetMet ? "reached" : "missed", target)
             : target;
}

report::Table tableOf(const std::vector<OperatorResult> &results, bool isWhole) {
  report::Table table({"operator", "types", ">correct", ">speed-up", ">of roofline", "target",
                       "state", ">time", "note"});
  for (const OperatorResult &one : results) {
    std::vector<std::string> types;
    types.reserve(one.types.size());
    for (const TypeCount &type : one.types) {
      types.push_back(type.correct == type.total
                          ? type.dtype
                          : fmt::format("{} {}/{}", type.dtype, type.correct, type.total));
    }
    table.add({one.name, fmt::format("{}", fmt::join(types, ", ")), correctText(one),
               speedupText(one), rooflineText(one), targetText(one), stateName(one.state),
               one.state == OperatorState::Pending ? "" : fmt::format("{:.1f} s", one.seconds),
               isWhole ? cellText(noteText(one)) : cut(noteText(one))});
  }
  return table;
}

/// "1 wrong, 2 no kernel".
std::string failuresText(const std::vector<OperatorResult> &results) {
  std::vector<std::string> parts;
  for (OperatorState state :
       {OperatorState::Wrong, OperatorState::Refused, OperatorState::Malformed,
        OperatorState::Failed, OperatorState::Crashed, OperatorState::OutOfTime,
        OperatorState::Pending}) {
    const auto count = std::count_if(results.begin(), results.end(),
                                     [&](const auto &one) { return one.state == state; });
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", count, stateName(state)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string speedupLines(const Totals &totals) {
  std::string text = "speed-up over the baseline: ";
  if (!totals.speedupOfRight) {
    text += "not told, no operator that is right was measured steadily enough\n";
  } else {
    text +=
        fmt::format("{}, geometric mean of the {} of {} operators that are right and measured\n",
                    report::formatRatio(*totals.speedupOfRight), totals.measured, totals.operators);
  }
  if (totals.failed > 0 && totals.measured > 0) {
    text += fmt::format("  {} counted, a failure as 0: {} on average (a geometric mean with a 0 in "
                        "it is 0)\n",
                        totals.unmeasured == 0 ? "all"
                                               : fmt::format("{}", totals.measured + totals.failed),
                        report::formatRatio(*totals.meanOfAll));
  }
  if (totals.unmeasured > 0) {
    text += fmt::format("  {} without steady times {} in no mean: a quieter machine, or more "
                        "--seconds-per-case\n",
                        totals.unmeasured, totals.unmeasured == 1 ? "is" : "are");
  }
  if (totals.measured > 0) {
    text += fmt::format("  {} of {} right and at least as quick as the baseline, {} reach their "
                        "target\n",
                        totals.asQuick, totals.operators, totals.targetsMet);
  }
  return text;
}

} // namespace

std::string speedupText(const OperatorResult &result) {
  if (result.speedup) {
    return report::formatRatio(*result.speedup);
  }
  return result.unsteadySpeedup ? "~" + report::formatRatio(*result.unsteadySpeedup) : "-";
}

std::string correctText(const OperatorResult &result) {
  const TypeCount cases = result.cases();
  return cases.total == 0 ? "-" : fmt::format("{}/{}", cases.correct, cases.total);
}

std::string cellText(std::string text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') {
      text[at] = ' ';
    } else if (text[at] == '|') {
      text.insert(at++, 1, '\\');
    }
  }
  return text;
}

std::string summaryTable(const std::vector<OperatorResult> &results) {
  return tableOf(results, false).text();
}

std::string totalsText(const std::vector<OperatorResult> &results) {
  const Totals totals = totalsOf(results);
  const std::string others = failuresText(results);
  std::string text = fmt::format(
      "operators: {} of {} right{}{}\n", totals.right, totals.operators,
      others.empty() ? "" : " (" + others + ")",
      totals.leftOut > 0 ? fmt::format("; {} left out, without the types asked for", totals.leftOut)
                         : "");
  text += fmt::format("cases: {} of {} right\n", totals.correctCases, totals.cases);
  text += speedupLines(totals);
  if (totals.rooflineShare) {
    text += fmt::format("share of the roofline: {}, geometric mean of {}{}\n",
                        report::formatPercent(*totals.rooflineShare), totals.withRoofline,
                        totals.unmeasured > 0 ? ", unsteady times among them" : "");
  }
  return text + fmt::format("time: {:.1f} s\n", totals.seconds);
}

std::string summaryMarkdown(const Summary &summary) {
  std::string text = fmt::format(
      "# Operators of {}\n\n{} ({}), target {}{}. {}\n\n", summary.definitions, versionText(),
      revisionText(), summary.target,
      summary.words.empty() ? "" : fmt::format(", `{}`", fmt::join(summary.words, " ")),
      summary.isComplete ? "All are done." : "Not all are done: the same command goes on.");
  text += tableOf(summary.results, true).markdown();
  text += "\n";
  const std::string totals = totalsText(summary.results);
  for (size_t at = 0; at < totals.size();) {
    const size_t end = totals.find('\n', at);
    const std::string line = totals.substr(at, end - at);
    text += (line.starts_with("  ") ? "  - " + line.substr(2) : "- " + line) + "\n";
    at = end + 1;
  }
  return text +
         "\nright: cases that agree with the float64 reference, of all. speed-up: over the unfused "
         "baseline (on a device the eager form), geometric mean of the performance cases, one that "
         "fails being 0; ~ of times that were too unsteady to count. An operator that is not right "
         "counts as 0 in the mean of all.\n";
}

} // namespace nereid::develop
