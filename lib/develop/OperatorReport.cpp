// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/OperatorReport.h"

#include "lib/develop/sweep/SummaryText.h"
#include "lib/report/Table.h"
#include "lib/support/Version.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace nereid::develop {
namespace {

using Json = nlohmann::ordered_json;

/// Two digits behind the point, and 100 only where all are right.
std::string shareText(int right, int total) {
  return total == 0 ? "-" : fmt::format("{:.2f} %", std::floor(1e4 * right / total) / 100);
}

/// Errors of some rows together.
struct Errors {
  double largest = 0, ofBound = 0, sum = 0, finite = 0, elements = 0;

  void add(const Json &row) {
    const double count = row.value("finite", 0.0);
    largest = std::max(largest, number(row, "max_absolute_error"));
    ofBound = std::max(ofBound, number(row, "error_of_bound"));
    sum += number(row, "mean_absolute_error") * count;
    finite += count;
    elements += number(row, "checked");
  }
  double mean() const { return finite > 0 ? sum / finite : 0; }

private:
  /// What JSON cannot say is null: a number that is not finite.
  static double number(const Json &row, const char *key) {
    return row.contains(key) && row.at(key).is_number() ? row.at(key).get<double>() : 0;
  }
};

std::string accuracyChapter(const OperatorResult &result, const Json &rows) {
  std::map<std::string, Errors> errors;
  Errors all;
  for (const Json &row : rows) {
    errors[row.at("dtype")].add(row);
    all.add(row);
  }
  report::Table table({"type", ">cases", ">right", ">failed", ">skipped", ">share right",
                       ">elements", ">max error", ">mean error", ">of its bound"});
  auto add = [&](const std::string &name, const TypeCount &count, const Errors &found) {
    table.add({name, std::to_string(count.total), std::to_string(count.correct),
               std::to_string(count.failed), std::to_string(count.skipped),
               shareText(count.correct, count.total), report::formatCount(found.elements),
               fmt::format("{:.2g}", found.largest), fmt::format("{:.2g}", found.mean()),
               report::formatPercent(found.ofBound)});
  };
  for (const TypeCount &type : result.types) {
    add(type.dtype, type, errors[type.dtype]);
  }
  if (result.types.size() > 1) {
    add("all", result.cases(), all);
  }
  const std::string seed =
      rows.empty() ? "" : fmt::format(" Cases of `--seed {}`.", rows[0].at("seed").get<uint64_t>());
  return "## Accuracy\n\nAgainst the definition in float64, each element within a bound of its "
         "own." +
         seed + "\n\n" + table.markdown();
}

/// What went wrong, a line each, and what was not run.
std::string listOf(const Json &rows, const char *key, const std::string &title) {
  std::string lines;
  for (const Json &row : rows) {
    if (row.contains(key)) {
      lines +=
          fmt::format("- `{}` ({}): {}\n", row.at("case").get<std::string>(),
                      row.at("dtype").get<std::string>(), cellText(row.at(key).get<std::string>()));
    }
  }
  return lines.empty() ? "" : "\n" + title + ":\n\n" + lines;
}

std::string performanceChapter(const OperatorResult &result, const ReportedOperator &reported) {
  std::string text = "\n## Performance\n\n";
  if (!reported.performance.is_array()) {
    return text + (result.state == OperatorState::Right
                       ? "Not measured: `nereid bench` or `nereid develop` does.\n"
                       : "Left out: nothing is timed before it is right.\n");
  }
  report::Table table(
      {"case", "type", "shape", ">kernel", ">baseline", ">speed-up", ">of roofline", "note"});
  for (const Json &row : reported.performance) {
    auto median = [&](const char *key) {
      return row.contains(key) ? report::formatSeconds(row.at(key).at("median").get<double>())
                               : std::string("-");
    };
    const bool isPaired = row.contains("kernel") && row.contains("baseline");
    const bool isShare =
        row.contains("roofline_fraction") && !row.at("roofline_fraction").is_null();
    auto isNoisy = [&](const char *key) {
      return row.contains(key) && row.at(key).value("noisy", false);
    };
    const std::string note =
        row.contains("failure")   ? "FAILED: " + row.at("failure").get<std::string>()
        : row.contains("skipped") ? "skipped: " + row.at("skipped").get<std::string>()
        : isNoisy("kernel") || isNoisy("baseline") ? "unsteady"
                                                   : "";
    table.add({cellText(row.at("case")), row.at("dtype"), row.value("shape", ""), median("kernel"),
               median("baseline"),
               isPaired ? report::formatRatio(row.at("speedup").get<double>()) : "-",
               isShare ? report::formatPercent(row.at("roofline_fraction").get<double>()) : "-",
               cellText(note)});
  }
  text += table.markdown();
  for (size_t i = 0; i < reported.criteria.size(); ++i) {
    text += (i == 0 ? "\n- " : "- ") + reported.criteria[i] + "\n";
  }
  return text;
}

} // namespace

std::string operatorReport(const ReportedOperator &reported) {
  OperatorResult result;
  result.name = reported.name;
  const Json none = Json::array();
  takeDevelopment(result,
                  {{"accuracy", reported.accuracy},
                   {"performance", reported.performance.is_array() ? reported.performance : none},
                   {"target", reported.targetSpeedup}});
  const TypeCount cases = result.cases();
  const bool isWrongTimed = std::any_of(reported.performance.begin(), reported.performance.end(),
                                        [](const Json &row) { return row.contains("failure"); });
  result.state = cases.failed > 0 || isWrongTimed ? OperatorState::Wrong : OperatorState::Right;
  std::string text =
      fmt::format("# {}: {}\n\n{} ({}), target {}, {}{}.\n\n", reported.name,
                  stateName(result.state), versionText(), revisionText(), reported.target,
                  reported.chip, reported.date.empty() ? "" : ", " + reported.date);
  text +=
      fmt::format("{} of {} cases right ({}), {} failed, {} skipped; speed-up {}, the target is "
                  "{}.\n\n",
                  cases.correct, cases.total, shareText(cases.correct, cases.total), cases.failed,
                  cases.skipped, speedupText(result), report::formatRatio(reported.targetSpeedup));
  text += accuracyChapter(result, reported.accuracy);
  text += listOf(reported.accuracy, "failure", "Failed");
  text += listOf(reported.accuracy, "skipped", "Skipped");
  text += listOf(reported.accuracy, "exchanged", "Exchanged");
  return text + performanceChapter(result, reported);
}

} // namespace nereid::develop
