// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/performance/Performance.h"

#include "lib/develop/performance/Bench.h"
#include "lib/measure/results/SummaryJson.h"
#include "lib/report/Table.h"
#include "runtime/BusyTime.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace nereid::develop {

using generator::Generation;
using generator::Schedule;

double idleFraction(const PreparedLaunch &launch) {
  constexpr double shortest = 100e-6, budget = 0.1;
  constexpr int most = 5;
  const measure::Clock clock = measure::steadyClock();
  const double start = clock();
  std::vector<double> shares;
  while (static_cast<int>(shares.size()) < most && (shares.empty() || clock() < start + budget)) {
    const runtime::BusyTime busy;
    const double begin = clock();
    (void)launch.run(runtime::defaultPool());
    const double seconds = clock() - begin;
    const double available = seconds * runtime::defaultPool().threadCount();
    shares.push_back(seconds < shortest
                         ? 0
                         : std::max(0.0, 1 - static_cast<double>(busy.nanos()) * 1e-9 / available));
  }
  return measure::summarize(shares).median;
}

PerformanceRow measureCase(Generation &generation, const definition::Case &testCase, DType dtype,
                           const Schedule *schedule, const Machine &chip,
                           const PerformanceOptions &options) {
  OperatorBench bench = OperatorBench::make(generation, testCase, dtype, chip, options);
  PerformanceRow &row = bench.row;
  if (!row.skipped.empty()) {
    return row;
  }
  row.schedule =
      schedule != nullptr ? *schedule : generation.scheduleFor(testCase.binding, dtype, chip);
  auto launch = PreparedLaunch::prepare(options.source, generation.fused, row.schedule,
                                        bench.tensors.inputs, bench.tensors.outputs);
  if (!launch) {
    row.failure = launch.error().message;
    return row;
  }
  const auto timed = bench::timeLaunches(bench.bench, {timedLaunch("kernel", *launch)}, chip,
                                         options.secondsPerCase);
  PerformanceRow result = bench.rowOf(timed.front(), row.schedule);
  if (!result.kernel.samples.empty()) {
    result.idleFraction = idleFraction(*launch);
  }
  return result;
}

bool PerformanceRow::isDecisive() const {
  auto isSteady = [](const measure::Timing &timing) { return !timing.isNoisy && !timing.isShort; };
  return skipped.empty() && (!failure.empty() || (isSteady(kernel) && isSteady(peer)));
}

/// "noisy, few samples, in cache".
static std::string timingNote(const PerformanceRow &row) {
  const std::string fault = row.rooflineFault();
  std::string note;
  for (auto [holds, text] :
       {std::pair(row.kernel.isNoisy, "noisy"), std::pair(row.kernel.isShort, "few samples"),
        std::pair(!row.isBeyondCache, "in cache"), std::pair(!fault.empty(), fault.c_str())}) {
    note += holds ? (note.empty() ? "" : ", ") + std::string(text) : "";
  }
  return note;
}

std::string performanceTable(const std::vector<PerformanceRow> &rows) {
  report::Table table({"case", "type", "shape", "schedule", ">kernel", ">p90", ">RSD", ">baseline",
                       ">speed-up", ">rate", ">of roofline", ">launch", "note"});
  for (const auto &row : rows) {
    std::vector<std::string> cells = {row.caseName, std::string(torchName(row.dtype)), row.shape};
    if (!row.skipped.empty()) {
      cells.resize(12);
      cells.push_back("skipped: " + row.skipped);
      table.add(cells);
      continue;
    }
    const auto &summary = row.kernel.summary;
    bool isTimed = summary.count > 0;
    auto orDash = [&](const std::string &text) { return isTimed ? text : std::string("-"); };
    cells.push_back(row.schedule.text());
    cells.push_back(orDash(report::formatSeconds(summary.median)));
    cells.push_back(orDash(report::formatSeconds(summary.p90)));
    cells.push_back(orDash(report::formatPercent(summary.relativeDeviation)));
    cells.push_back(row.hasPeer() ? report::formatSeconds(row.peer.summary.median) : "-");
    cells.push_back(row.hasPeer() || !row.failure.empty() ? report::formatRatio(row.speedup) : "-");
    cells.push_back(orDash(report::formatRate(row.bytes / summary.median)));
    cells.push_back(row.rooflineFault().empty() ? orDash(report::formatPercent(row.rooflineShare()))
                                                : "-");
    cells.push_back(orDash(report::formatSeconds(row.launchSeconds)));
    const std::string note = !row.failure.empty() ? "FAILED: " + row.failure : timingNote(row);
    cells.push_back(note);
    table.add(cells);
  }
  return table.text();
}

std::string performanceJson(const std::vector<PerformanceRow> &rows) {
  using Json = nlohmann::ordered_json;
  auto timing = [](const measure::Timing &value) {
    Json figures;
    measure::addTiming(figures, value);
    return figures;
  };
  Json json = Json::array();
  for (const auto &row : rows) {
    Json entry = {{"case", row.caseName},
                  {"dtype", torchName(row.dtype)},
                  {"shape", row.shape},
                  {"schedule", row.schedule.text()}};
    if (!row.skipped.empty()) {
      entry["skipped"] = row.skipped;
      json.push_back(entry);
      continue;
    }
    entry["bytes"] = row.bytes;
    entry["flops"] = row.flops;
    entry["unfused_bytes"] = row.unfusedBytes;
    if (row.kernel.summary.count > 0) {
      entry["kernel"] = timing(row.kernel);
    }
    if (row.yardstick.summary.count > 0) {
      entry["yardstick"] = measure::yardstickJson(row.yardstick, row.yardstickAmount);
    }
    if (row.hasPeer()) {
      entry["baseline"] = timing(row.peer);
    }
    entry["copy_seconds"] = row.copySeconds;
    entry["launch_seconds"] = row.launchSeconds;
    entry["idle_fraction"] = row.idleFraction;
    entry["speedup"] = row.speedup;
    entry["p_value"] = row.pValue;
    const std::string fault = row.rooflineFault();
    const bool isShare = fault.empty();
    entry["roofline_fraction"] = isShare ? Json(row.rooflineShare()) : Json();
    entry["bandwidth_fraction"] = isShare ? Json(row.bandwidthShare()) : Json();
    entry["compute_fraction"] = isShare ? Json(row.computeShare()) : Json();
    if (!isShare) {
      entry["roofline_fault"] = fault;
    }
    entry["verified"] = row.isVerified;
    if (!row.failure.empty()) {
      entry["failure"] = row.failure;
    }
    json.push_back(entry);
  }
  return json.dump(2);
}

std::optional<double> overallSpeedup(const std::vector<PerformanceRow> &rows) {
  std::vector<double> speedups;
  for (const auto &row : rows) {
    if (row.isDecisive()) {
      speedups.push_back(row.failure.empty() ? row.speedup : 0);
    }
  }
  if (speedups.empty()) {
    return std::nullopt;
  }
  return measure::geometricMean(speedups);
}

} // namespace nereid::develop
