// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Verification.h"

#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace nereid::develop {

using definition::GridCase;
using generator::Generation;

namespace {

AccuracyRow verifyCase(Generation &generation, const KernelSource &source,
                       const generator::ChipSummary &chip, const GridCase &grid, DType dtype) {
  AccuracyRow row;
  row.caseName = grid.name;
  row.data = definition::name(grid.data);
  row.layout = definition::name(grid.layout);
  row.dtype = dtype;
  auto tensors = makeTensors(generation.fused, grid, dtype);
  if (!tensors) {
    row.skipped = tensors.error().message;
    return row;
  }
  row.shape = fmt::format("{}", fmt::join(tensors->outputs[0].shape(), "x"));
  auto schedule = generation.scheduleFor(grid.binding, dtype, chip);
  auto launch = PreparedLaunch::prepare(source, generation.fused, schedule, tensors->inputs,
                                        tensors->outputs);
  if (!launch) {
    row.failure = launch.error().message;
    return row;
  }
  row.schedule = launch->plan().schedule.text();
  if (auto error = launch->run(runtime::defaultPool())) {
    row.failure = error.message;
    return row;
  }
  auto agreement = checkAgreement(generation.fused, *tensors, dtype);
  if (!agreement) {
    row.failure = agreement.error().message;
    return row;
  }
  row.checked = agreement->checked;
  row.unverifiable = agreement->unverifiable;
  row.maxAbsoluteError = agreement->worstAbsolute;
  row.errorOfBound = agreement->worstRatio;
  if (!agreement->agrees()) {
    row.failure = describeMismatch(*agreement);
  }
  return row;
}

} // namespace

int AccuracyReport::failures() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [](const auto &row) { return !row.failure.empty(); }));
}

int AccuracyReport::skips() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [](const auto &row) { return !row.skipped.empty(); }));
}

AccuracyReport verifyAccuracy(Generation &generation, const KernelSource &source,
                              const generator::ChipSummary &chip, const std::vector<DType> &dtypes,
                              uint64_t seed,
                              const std::function<void(const std::string &)> &progress) {
  AccuracyReport report;
  auto grid = definition::accuracyGrid(generation.fused.op);
  for (DType dtype : dtypes) {
    progress(fmt::format("verify: {}, {} cases", torchName(dtype), grid.size()));
    for (GridCase one : grid) {
      if (isInterrupted()) {
        report.isInterrupted = true;
        return report;
      }
      one.seed += seed;
      report.rows.push_back(verifyCase(generation, source, chip, one, dtype));
    }
  }
  return report;
}

std::string accuracyTable(const AccuracyReport &report) {
  struct Group {
    int cases = 0, failed = 0, skipped = 0;
    int64_t elements = 0, unverifiable = 0;
    double worstAbsolute = 0, worstOfBound = 0;
  };
  std::map<std::pair<DType, std::string>, Group> groups;
  std::string details;
  for (const auto &row : report.rows) {
    Group &group = groups[{row.dtype, row.data}];
    ++group.cases;
    group.failed += row.failure.empty() ? 0 : 1;
    group.skipped += row.skipped.empty() ? 0 : 1;
    group.elements += row.checked;
    group.unverifiable += row.unverifiable;
    group.worstAbsolute = std::max(group.worstAbsolute, row.maxAbsoluteError);
    group.worstOfBound = std::max(group.worstOfBound, row.errorOfBound);
    if (!row.failure.empty() || !row.skipped.empty()) {
      details += fmt::format("  {} {} ({}): {}\n", row.failure.empty() ? "skipped" : "FAILED",
                             row.caseName, torchName(row.dtype),
                             row.failure.empty() ? row.skipped : row.failure);
    }
  }
  report::Table table({"type", "data", ">cases", ">failed", ">skipped", ">elements",
                       ">not verifiable", ">max error", ">of its bound"});
  for (const auto &[key, group] : groups) {
    table.add({std::string(torchName(key.first)), key.second, std::to_string(group.cases),
               std::to_string(group.failed), std::to_string(group.skipped),
               report::formatCount(static_cast<double>(group.elements)),
               report::formatCount(static_cast<double>(group.unverifiable)),
               fmt::format("{:.2g}", group.worstAbsolute),
               report::formatPercent(group.worstOfBound)});
  }
  return table.text() + details;
}

std::string accuracyJson(const AccuracyReport &report) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto &row : report.rows) {
    nlohmann::ordered_json entry = {{"case", row.caseName},
                                    {"dtype", torchName(row.dtype)},
                                    {"shape", row.shape},
                                    {"schedule", row.schedule},
                                    {"checked", row.checked},
                                    {"unverifiable", row.unverifiable},
                                    {"max_absolute_error", row.maxAbsoluteError},
                                    {"error_of_bound", row.errorOfBound}};
    if (!row.failure.empty()) {
      entry["failure"] = row.failure;
    }
    if (!row.skipped.empty()) {
      entry["skipped"] = row.skipped;
    }
    json.push_back(entry);
  }
  return json.dump();
}

} // namespace nereid::develop
