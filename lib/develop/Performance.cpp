// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Performance.h"

#include "lib/eager/Eager.h"
#include "lib/measure/FloorPeers.h"
#include "lib/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace nereid::develop {

using generator::Generation;
using generator::Schedule;
using measure::Chip;
using runtime::Tensor;

namespace {

/// Tensors of one case with everything the rows of its versions share.
struct Bench {
  CaseTensors tensors;
  PerformanceRow row;                   ///< names, work and sizes filled in
  std::optional<uint64_t> agreedDigest; ///< of outputs that agreed with the reference

  static Bench make(Generation &generation, const definition::Case &testCase, DType dtype,
                    const Chip &chip, const PerformanceOptions &options);
};

std::string shapeText(const std::vector<int64_t> &shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

Bench Bench::make(Generation &generation, const definition::Case &testCase, DType dtype,
                  const Chip &chip, const PerformanceOptions &options) {
  Bench bench;
  bench.row.caseName = testCase.name;
  bench.row.dtype = dtype;
  const auto &op = generation.fused.op;
  bench.row.work = definition::countWork(op, testCase.binding, dtype);
  bench.row.unfusedBytes = definition::countUnfusedWork(op, testCase.binding, dtype).bytes();
  bench.row.isBeyondCache = bench.row.work.bytes() > static_cast<double>(chip.lastCacheBytes());
  definition::GridCase grid{testCase.name, testCase.binding};
  grid.seed = options.seed;
  auto tensors =
      makeTensors(generation.fused, grid, dtype, options.withBaseline ? bench.row.work.bytes() : 0);
  if (!tensors) {
    bench.row.skipped = tensors.error().message;
    return bench;
  }
  bench.tensors = std::move(*tensors);
  bench.row.shape = shapeText(bench.tensors.outputs[0].shape());
  return bench;
}

/// Compares the outputs with the reference; the failure text, or "". Outputs with the same bytes as
/// the ones that last agreed are not compared again.
std::string verify(const Generation &generation, Bench &bench) {
  uint64_t digest = outputsDigest(bench.tensors);
  if (bench.agreedDigest == digest) {
    return "";
  }
  auto agreement = checkAgreement(generation.fused, bench.tensors, bench.row.dtype);
  if (!agreement) {
    return agreement.error().message;
  }
  if (!agreement->agrees()) {
    return "wrong result: " + describeMismatch(*agreement);
  }
  bench.agreedDigest = digest;
  return "";
}

void poisonOutputs(const CaseTensors &tensors) {
  for (const Tensor &output : tensors.outputs) {
    output.poison();
  }
}

/// A version that launches the kernel on poisoned outputs.
measure::Version kernelVersion(const std::string &name, const PreparedLaunch &launch,
                               const CaseTensors &tensors, std::string &failure) {
  measure::Version version;
  version.name = name;
  version.prepare = [&tensors] { poisonOutputs(tensors); };
  version.run = [&launch, &failure] {
    auto error = launch.run(runtime::defaultPool());
    if (error && failure.empty()) {
      failure = error.message;
    }
  };
  return version;
}

/// A copy between the case's own largest tensors. It starts from the caches the kernel starts from,
/// full of the outputs' poison on its way to memory: without that it is a tenth faster on a 256 MiB
/// output. Empty within the caches.
std::optional<measure::FloorPeer> copyOf(const PerformanceRow &row, const CaseTensors &tensors,
                                         const Chip &chip) {
  const auto from = std::max_element(
      tensors.inputs.begin(), tensors.inputs.end(),
      [](const Tensor &a, const Tensor &b) { return a.byteCount() < b.byteCount(); });
  if (!row.isBeyondCache || from == tensors.inputs.end() || !from->isContiguous()) {
    return std::nullopt;
  }
  auto peer = measure::copyPeer(chip, tensors.outputs[0], *from);
  if (peer) {
    peer->version.prepare = [&tensors] { poisonOutputs(tensors); };
  }
  return peer;
}

double timeLaunch(const PreparedLaunch &launch) {
  measure::TimerOptions options;
  options.secondsBudget = 0.05;
  measure::Version version{"launch", [&] { (void)launch.runEmpty(runtime::defaultPool()); }};
  return measure::timeInterleaved({version}, options)[0].summary.median;
}

void fillRates(PerformanceRow &row, const Chip &chip) {
  double seconds = row.kernel.summary.median;
  // Elementwise work is done in float32 whatever the storage type.
  DType rateType = row.dtype == DType::F64 ? DType::F64 : DType::F32;
  auto floor = measure::roofline(chip, row.work.bytes(), row.work.flops, rateType);
  if (row.copySeconds > 0) {
    floor.memorySeconds = row.copySeconds;
  }
  if (seconds > 0) {
    row.rooflineFraction = floor.floorSeconds() / seconds;
    row.bandwidthFraction = floor.memorySeconds / seconds;
    row.computeFraction = floor.computeSeconds / seconds;
  }
  if (measure::isImpossible(chip, floor, row.work.bytes(), seconds)) {
    row.failure =
        fmt::format("{} is below the roofline's floor of {}: rejected as impossible",
                    report::formatSeconds(seconds), report::formatSeconds(floor.floorSeconds()));
  }
}

} // namespace

generator::ChipSummary summarizeChip(const Chip &chip) {
  generator::ChipSummary summary;
  summary.name = chip.name;
  summary.l1Bytes = chip.cacheBytes("L1d");
  summary.l2Bytes = chip.cacheBytes("L2");
  summary.l3Bytes = chip.lastCacheBytes();
  summary.cores = chip.cores;
  summary.vectorBytes = chip.vectorBytes;
  return summary;
}

PerformanceRow measureCase(Generation &generation, const definition::Case &testCase, DType dtype,
                           const Schedule *schedule, const Chip &chip,
                           const PerformanceOptions &options) {
  Bench bench = Bench::make(generation, testCase, dtype, chip, options);
  PerformanceRow &row = bench.row;
  if (!row.skipped.empty()) {
    return row;
  }
  row.schedule = schedule != nullptr
                     ? *schedule
                     : generation.scheduleFor(testCase.binding, dtype, summarizeChip(chip));
  auto launch = PreparedLaunch::prepare(options.source, generation.fused, row.schedule,
                                        bench.tensors.inputs, bench.tensors.outputs);
  if (!launch) {
    row.failure = launch.error().message;
    return row;
  }
  std::vector<measure::Version> versions;
  if (options.withBaseline) {
    measure::Version baseline;
    baseline.name = "baseline";
    baseline.run = [&] {
      auto result =
          eager::runGraph(generation.fused.op, bench.tensors.inputs, runtime::defaultPool());
      if (!result && row.failure.empty()) {
        row.failure = result.error().message;
      }
    };
    versions.push_back(std::move(baseline));
  }
  versions.push_back(kernelVersion("kernel", *launch, bench.tensors, row.failure));
  // Nothing unverified is timed.
  versions.back().prepare();
  versions.back().run();
  if (row.failure.empty()) {
    row.failure = verify(generation, bench);
  }
  if (!row.failure.empty()) {
    return row;
  }
  const auto copy = copyOf(row, bench.tensors, chip);
  if (copy) {
    // Just before the kernel: the outputs verified afterwards are those of the last timed launch.
    versions.insert(versions.end() - 1, copy->version);
  }
  measure::TimerOptions timer;
  timer.secondsBudget = options.secondsPerCase;
  auto timings = measure::timeInterleaved(versions, timer);
  row.kernel = timings.back();
  if (copy) {
    row.copySeconds = copy->secondsFor(row.work.bytes(), timings[timings.size() - 2], row.kernel);
  }
  if (options.withBaseline) {
    row.baseline = timings.front();
    row.speedup = row.baseline.summary.median / row.kernel.summary.median;
    row.pValue = measure::mannWhitney(row.baseline.samples, row.kernel.samples).pValue;
  }
  eager::releaseCachedMemory();
  row.launchSeconds = timeLaunch(*launch);
  fillRates(row, chip);
  std::string wrong = verify(generation, bench);
  row.isVerified = wrong.empty();
  if (!wrong.empty()) {
    row.failure = wrong;
  }
  if (!row.failure.empty()) {
    row.speedup = 0;
  }
  return row;
}

Duel duel(Generation &generation, const definition::Case &testCase, DType dtype,
          const Schedule &before, const Schedule &after, const Chip &chip,
          const PerformanceOptions &options) {
  Duel result;
  PerformanceOptions withoutBaseline = options;
  withoutBaseline.withBaseline = false;
  Bench bench = Bench::make(generation, testCase, dtype, chip, withoutBaseline);
  result.before = result.after = bench.row;
  result.before.schedule = before;
  result.after.schedule = after;
  if (!bench.row.skipped.empty()) {
    result.failure = bench.row.skipped;
    return result;
  }
  auto prepare = [&](const Schedule &schedule) {
    return PreparedLaunch::prepare(options.source, generation.fused, schedule, bench.tensors.inputs,
                                   bench.tensors.outputs);
  };
  auto first = prepare(before), second = prepare(after);
  if (!first || !second) {
    result.failure = !first ? first.error().message : second.error().message;
    return result;
  }
  std::vector<measure::Version> versions = {
      kernelVersion("before", *first, bench.tensors, result.failure),
      kernelVersion("after", *second, bench.tensors, result.failure)};
  versions.back().prepare();
  versions.back().run();
  if (result.failure.empty()) {
    result.failure = verify(generation, bench);
  }
  if (!result.failure.empty()) {
    return result;
  }
  const auto copy = copyOf(bench.row, bench.tensors, chip);
  if (copy) {
    // First in turn: the outputs verified afterwards are those of the last timed launch.
    versions.insert(versions.begin(), copy->version);
  }
  measure::TimerOptions timer;
  timer.secondsBudget = options.secondsPerCase;
  auto timings = measure::timeInterleaved(versions, timer);
  result.before.kernel = timings[timings.size() - 2];
  result.after.kernel = timings.back();
  if (copy) {
    double moved = bench.row.work.bytes();
    for (PerformanceRow *row : {&result.before, &result.after}) {
      row->copySeconds = copy->secondsFor(moved, timings.front(), row->kernel);
    }
  }
  fillRates(result.before, chip);
  fillRates(result.after, chip);
  result.failure = result.after.failure;
  const auto &oldTiming = result.before.kernel, &newTiming = result.after.kernel;
  result.gain = oldTiming.summary.median / newTiming.summary.median;
  result.pValue = measure::mannWhitney(oldTiming.samples, newTiming.samples).pValue;
  std::string wrong = verify(generation, bench);
  if (!wrong.empty()) {
    result.failure = wrong;
  }
  result.after.isVerified = result.failure.empty();
  return result;
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
    bool hasBaseline = row.baseline.summary.count > 0;
    cells.push_back(hasBaseline ? report::formatSeconds(row.baseline.summary.median) : "-");
    cells.push_back(hasBaseline || !row.failure.empty() ? report::formatRatio(row.speedup) : "-");
    cells.push_back(orDash(report::formatRate(row.work.bytes() / summary.median)));
    cells.push_back(orDash(report::formatPercent(row.rooflineFraction)));
    cells.push_back(orDash(report::formatSeconds(row.launchSeconds)));
    std::string note = !row.failure.empty() ? "FAILED: " + row.failure
                       : row.kernel.isNoisy ? "noisy"
                       : row.kernel.isShort ? "few samples"
                       : !row.isBeyondCache ? "in cache"
                                            : "";
    cells.push_back(note);
    table.add(cells);
  }
  return table.text();
}

std::string performanceJson(const std::vector<PerformanceRow> &rows) {
  using Json = nlohmann::ordered_json;
  auto timing = [](const measure::Timing &value) {
    const auto &s = value.summary;
    return Json{{"median", s.median},
                {"p90", s.p90},
                {"p99", s.p99},
                {"minimum", s.minimum},
                {"relative_deviation", s.relativeDeviation},
                {"outliers", s.outliers},
                {"samples", s.count},
                {"runs_per_sample", value.runsPerSample},
                {"noisy", value.isNoisy}};
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
    entry["bytes"] = row.work.bytes();
    entry["flops"] = row.work.flops;
    entry["unfused_bytes"] = row.unfusedBytes;
    entry["kernel"] = timing(row.kernel);
    if (row.baseline.summary.count > 0) {
      entry["baseline"] = timing(row.baseline);
    }
    entry["copy_seconds"] = row.copySeconds;
    entry["launch_seconds"] = row.launchSeconds;
    entry["speedup"] = row.speedup;
    entry["p_value"] = row.pValue;
    entry["roofline_fraction"] = row.rooflineFraction;
    entry["bandwidth_fraction"] = row.bandwidthFraction;
    entry["compute_fraction"] = row.computeFraction;
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
    if (row.skipped.empty()) {
      speedups.push_back(row.failure.empty() ? row.speedup : 0);
    }
  }
  if (speedups.empty()) {
    return std::nullopt;
  }
  return measure::geometricMean(speedups);
}

} // namespace nereid::develop
