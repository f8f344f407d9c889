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
  if (!launch.isEmpty() && runtime::otherDevice(*launch.launches()[0].kernel) != nullptr) {
    return 0; // its processors keep no account
  }
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

/// Of the launches and, where there is one, the graph; the peer is the eager form.
static Choice choiceOf(const std::vector<bench::Row> &timed, const std::string &noGraph,
                       const PerformanceOptions &options) {
  const bench::Row &launches = timed.front();
  Choice choice;
  choice.mode = options.mode;
  choice.leastSpeedup = options.leastSpeedup;
  choice.clock = options.device == nullptr  ? "host"
                 : usesGraphs(options.mode) ? "device, launching counted"
                                            : "device";
  choice.launchSeconds = launches.kernel.summary.median;
  choice.eagerSeconds = launches.hasPeer() ? launches.peer.summary.median : 0;
  choice.failure = !launches.failure.empty() ? launches.failure
                   : !noGraph.empty()        ? noGraph
                   : !launches.hasPeer()     ? "there is no eager form to compare with"
                                             : "";
  choice.isNoisy = launches.kernel.isNoisy || launches.peer.isNoisy;
  if (timed.size() > 1) {
    choice.failure = choice.failure.empty() ? timed[1].failure : choice.failure;
    choice.graph = timed[1].kernel;
    choice.isNoisy |= timed[1].kernel.isNoisy;
  }
  return choice;
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
  auto launch = PreparedLaunch::prepare(options.source, generation, row.schedule,
                                        bench.tensors.inputs, bench.tensors.outputs);
  if (!launch) {
    row.failure = launch.error().message;
    return row;
  }
  row.schedule = launch->schedule(); // shown with the blocks of this case
  std::vector<bench::TimedLaunch> forms = {timedLaunch("kernel", *launch, options)};
  std::string noGraph;
  if (usesGraphs(options.mode) && forms.front().device != nullptr) {
    auto graph = bench::captured("graph", forms.front(), queueingOf(options));
    graph ? forms.push_back(std::move(*graph)) : void(noGraph = graph.error().message);
  }
  const auto timed = bench::timeLaunches(bench.bench, forms, chip, options.secondsPerCase);
  PerformanceRow result = bench.rowOf(timed.front(), row.schedule);
  if (!result.kernel.samples.empty()) {
    result.idleFraction = idleFraction(*launch);
    result.choice = choiceOf(timed, noGraph, options);
    if (result.choice->form() == generator::Form::Eager &&
        definition::writesInputs(generation.op())) {
      result.choice->failure = "the eager form writes into no input";
    }
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
  const bool isOnDevice =
      std::any_of(rows.begin(), rows.end(), [](const auto &row) { return !row.device.empty(); });
  report::Table table({"case", "type", "shape", "schedule", ">kernel", ">p90", ">RSD",
                       isOnDevice ? ">eager" : ">baseline", ">speed-up", ">rate", ">of roofline",
                       ">launch", "note"});
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

static nlohmann::ordered_json choiceJson(const Choice &choice) {
  nlohmann::ordered_json json = {{"mode", modeName(choice.mode)},
                                 {"min_speedup", choice.leastSpeedup},
                                 {"clock", choice.clock}};
  if (!choice.failure.empty()) {
    json["failure"] = choice.failure;
    return json;
  }
  json["form"] = generator::formName(choice.form());
  json["speedup"] = choice.speedup();
  json["noisy"] = choice.isNoisy;
  json["eager_seconds"] = choice.eagerSeconds;
  json["launch_seconds"] = choice.launchSeconds;
  if (choice.graph) {
    measure::addTiming(json["graph"], *choice.graph);
  }
  return json;
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
    if (!row.device.empty()) {
      entry["device"] = row.device;
    }
    entry["baseline_kind"] = row.device.empty() ? "unfused library operations"
                                                : "a kernel for each operation, on the device";
    if (!row.missingBaseline.empty()) {
      entry["missing_baseline"] = row.missingBaseline;
    }
    if (row.choice) {
      entry["choice"] = choiceJson(*row.choice);
    }
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
