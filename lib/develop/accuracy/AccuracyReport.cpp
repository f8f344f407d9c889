// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/AccuracyReport.h"

#include "lib/report/Table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace nereid::develop {

int AccuracyReport::failures() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [](const auto &row) { return !row.failure.empty(); }));
}

int AccuracyReport::skips() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [](const auto &row) { return !row.skipped.empty(); }));
}

std::string AccuracyReport::firstFailure() const {
  if (isInterrupted) {
    return "interrupted before every case was verified";
  }
  for (const AccuracyRow &row : rows) {
    if (!row.failure.empty()) {
      return fmt::format("{} ({}): {}", row.caseName, torchName(row.dtype), row.failure);
    }
  }
  return "";
}

std::string accuracyTable(const AccuracyReport &report) {
  struct Group {
    int cases = 0, failed = 0, skipped = 0;
    eager::Comparison all;
  };
  std::map<std::pair<DType, std::string>, Group> groups;
  std::string details;
  for (const auto &row : report.rows) {
    Group &group = groups[{row.dtype, row.data}];
    ++group.cases;
    group.failed += row.failure.empty() ? 0 : 1;
    group.skipped += row.skipped.empty() ? 0 : 1;
    group.all.merge(row.comparison);
    if (!row.exchanged.empty()) {
      details += fmt::format("  exchanged {} ({}): {}\n", row.caseName, torchName(row.dtype),
                             row.exchanged);
    }
    if (!row.failure.empty() || !row.skipped.empty()) {
      details += fmt::format("  {} {} ({}): {}\n", row.failure.empty() ? "skipped" : "FAILED",
                             row.caseName, torchName(row.dtype),
                             row.failure.empty() ? row.skipped : row.failure);
    }
  }
  report::Table table({"type", "data", ">cases", ">failed", ">skipped", ">elements",
                       ">not verifiable", ">max error", ">mean error", ">of its bound"});
  for (const auto &[key, group] : groups) {
    table.add({std::string(torchName(key.first)), key.second, std::to_string(group.cases),
               std::to_string(group.failed), std::to_string(group.skipped),
               report::formatCount(static_cast<double>(group.all.elements)),
               report::formatPercent(group.all.unverifiableShare()),
               fmt::format("{:.2g}", group.all.maxAbsoluteError),
               fmt::format("{:.2g}", group.all.meanAbsoluteError()),
               report::formatPercent(group.all.worstRatio)});
  }
  if (!report.unlaunched.empty()) {
    details +=
        fmt::format("  kernels that no case launched: {}\n", fmt::join(report.unlaunched, ", "));
  }
  return table.text() + details;
}

std::string accuracyJson(const AccuracyReport &report) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto &row : report.rows) {
    nlohmann::ordered_json entry = {{"case", row.caseName},
                                    {"dtype", torchName(row.dtype)},
                                    {"seed", report.seed},
                                    {"shape", row.shape},
                                    {"schedule", row.schedule},
                                    {"kernels", row.kernels},
                                    {"checked", row.comparison.elements},
                                    {"unverifiable", row.comparison.unverifiable},
                                    {"finite", row.comparison.finiteElements},
                                    {"max_absolute_error", row.comparison.maxAbsoluteError},
                                    {"mean_absolute_error", row.comparison.meanAbsoluteError()},
                                    {"error_of_bound", row.comparison.worstRatio}};
    if (!row.failure.empty()) {
      entry["failure"] = row.failure;
    }
    if (!row.exchanged.empty()) {
      entry["exchanged"] = row.exchanged;
    }
    if (!row.skipped.empty()) {
      entry["skipped"] = row.skipped;
    }
    json.push_back(entry);
  }
  return json.dump();
}

} // namespace nereid::develop
