// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Bench.h"

#include "lib/eager/Eager.h"
#include "lib/measure/ThisChip.h"
#include "lib/report/RooflineReport.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/Digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <random>

namespace nereid::develop {

using generator::Generation;
using measure::Chip;
using runtime::Tensor;

static std::string shapeText(const std::vector<int64_t> &shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

static Status surround(Bench &bench, const generator::FusedOperator &fused) {
  std::vector<verify::Canaries::Named> named;
  auto input = bench.tensors.inputs.begin();
  for (const auto &parameter : fused.op.parameters) {
    if (!parameter.isScalar) {
      named.push_back({parameter.name, &*input++});
    }
  }
  auto output = bench.tensors.outputs.begin();
  for (const auto &operand : fused.operands) {
    if (operand.isOutput) {
      named.push_back({operand.name, &*output++});
    }
  }
  Status moved = bench.canaries.surround(std::move(named));
  bench.tensors.memory.clear();
  return moved;
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
  if (auto moved = surround(bench, generation.fused); !moved) {
    bench.row.skipped = moved.error().message;
    return bench;
  }
  bench.row.shape = shapeText(bench.tensors.outputs[0].shape());
  bench.inputsDigest = verify::digestOf(bench.tensors.inputs);
  return bench;
}

std::string verifyOutputs(const Generation &generation, Bench &bench) {
  if (std::string outside = bench.canaries.violation(); !outside.empty()) {
    return outside;
  }
  if (verify::digestOf(bench.tensors.inputs) != bench.inputsDigest) {
    return "an input is changed: nereid verify says which";
  }
  const uint64_t digest = verify::digestOf(bench.tensors.outputs);
  if (bench.agreedDigest == digest) {
    return "";
  }
  auto comparison = compareOutputs(generation.fused, bench.tensors, bench.row.dtype);
  if (!comparison) {
    return comparison.error().message;
  }
  if (!comparison->passed()) {
    return "wrong result: " + comparison->text();
  }
  bench.agreedDigest = digest;
  return "";
}

static void poisonOutputs(const CaseTensors &tensors) {
  for (const Tensor &output : tensors.outputs) {
    output.poison();
  }
}

measure::Version kernelVersion(const std::string &name, const PreparedLaunch &launch,
                               const Generation &generation, Bench &bench, std::string &failure) {
  measure::Version version;
  version.name = name;
  version.renew = [&bench] { poisonOutputs(bench.tensors); };
  version.run = [&launch, &failure] {
    auto error = launch.run(runtime::defaultPool());
    if (error && failure.empty()) {
      failure = error.message;
    }
  };
  const auto chosen =
      static_cast<int>(std::random_device()() % measure::TimerOptions().minimumSamples);
  version.finish = [&generation, &bench, &failure, chosen, taken = 0]() mutable {
    if (taken++ == chosen && failure.empty()) {
      failure = verifyOutputs(generation, bench);
    }
  };
  return version;
}

measure::Version baselineVersion(const Generation &generation, Bench &bench, std::string &failure) {
  measure::Version version;
  version.name = "baseline";
  version.run = [&generation, &bench, &failure] {
    auto result =
        eager::runGraph(generation.fused.op, bench.tensors.inputs, runtime::defaultPool());
    if (!result && failure.empty()) {
      failure = result.error().message;
    }
  };
  return version;
}

/// A copy between the case's own largest tensors. It starts from the caches the kernel starts from,
/// full of the outputs' poison on its way to memory: without that it is a tenth faster on a 256 MiB
/// output. Empty within the caches.
static std::optional<measure::FloorPeer> copyOf(const Bench &bench, const Chip &chip) {
  const CaseTensors &tensors = bench.tensors;
  const auto from = std::max_element(
      tensors.inputs.begin(), tensors.inputs.end(),
      [](const Tensor &a, const Tensor &b) { return a.byteCount() < b.byteCount(); });
  if (!bench.row.isBeyondCache || from == tensors.inputs.end() || !from->isContiguous()) {
    return std::nullopt;
  }
  auto peer = measure::copyPeer(chip, tensors.outputs[0], *from);
  if (peer) {
    peer->version.prepare = [&tensors] { poisonOutputs(tensors); };
  }
  return peer;
}

Yardstick Yardstick::make(const Bench &bench, const Chip &chip) {
  Yardstick yardstick;
  yardstick.copy = copyOf(bench, chip);
  if (!yardstick.copy) {
    yardstick.clock = measure::clockPeer();
  }
  return yardstick;
}

void Yardstick::insert(std::vector<measure::Version> &versions, size_t place) const {
  if (peer()) {
    versions.insert(versions.begin() + static_cast<std::ptrdiff_t>(place), peer()->version);
  }
}

void Yardstick::record(PerformanceRow &row, const measure::Timing &own) const {
  if (!peer()) {
    return;
  }
  row.yardstick = own;
  row.yardstickAmount = peer()->amount;
  if (copy) {
    row.copySeconds = copy->secondsFor(row.work.bytes(), own, row.kernel);
  }
}

measure::TimerOptions timerOptions(const PerformanceOptions &options) {
  measure::TimerOptions timer;
  timer.secondsBudget = options.secondsPerCase;
  timer.isStopped = isInterrupted;
  return timer;
}

void fillRates(PerformanceRow &row, const Chip &chip) {
  double seconds = row.kernel.summary.median;
  measure::Roofline timed;
  auto floor = measure::roofline(chip, row.work.bytes(), row.work.flops, rateTypeOf(row.dtype));
  if (row.copySeconds > 0) {
    floor.memorySeconds = timed.memorySeconds = row.copySeconds;
  }
  if (seconds > 0) {
    row.rooflineFraction = floor.floorSeconds() / seconds;
    row.bandwidthFraction = floor.memorySeconds / seconds;
    row.computeFraction = floor.computeSeconds / seconds;
  }
  const bool isTimed = floor.isMemoryBound() && row.copySeconds > 0;
  row.rooflineFault = measure::rooflineFault(row.rooflineFraction, isTimed);
  const measure::TimedWork work{row.work.bytes(), row.work.flops, rateTypeOf(row.dtype), timed,
                                seconds};
  if (row.failure.empty() && seconds > 0 && measure::isImpossibleHere(chip, work)) {
    row.failure = report::impossibleText(seconds, floor);
  }
}

void fillSpeedup(PerformanceRow &row, const measure::Timing &baseline) {
  row.baseline = baseline;
  row.speedup = row.baseline.summary.median / row.kernel.summary.median;
  row.pValue = measure::mannWhitney(row.baseline.samples, row.kernel.samples).pValue;
}

} // namespace nereid::develop
