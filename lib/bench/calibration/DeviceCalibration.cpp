// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/calibration/DeviceCalibration.h"

#include "lib/bench/calibration/CalibrationKernels.h"
#include "lib/bench/measurement/DeviceClock.h"
#include "lib/measure/Timer.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/pipeline/Compiler.h"
#include "lib/support/FirstError.h"
#include "lib/support/Version.h"
#include "runtime/Kernel.h"
#include "runtime/tensor/Tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>

namespace nereid::bench {
namespace {

using runtime::ArgumentValue;
using runtime::LaunchError;
using runtime::Tensor;

/// Repetitions of a figure are this far apart at most when nothing disturbs them.
constexpr double mostSpread = 0.1;
/// Elements of a program, and programs of a processor: enough to hide the memory's latency.
constexpr int64_t block = 2048, programsOfProcessor = 8;
constexpr int64_t depth = 2048;      ///< of products: elements that are summed up in a round
constexpr int64_t chainsOfRound = 8; ///< multiply-adds one behind the other

/// The figures of one device.
class Calibration {
public:
  Calibration(runtime::Device &device, const CalibrationOptions &options)
      : device(device), options(options), chip(measure::describeDevice(device)) {}

  Result<Machine> run();

private:
  struct Launch {
    std::string function, signature;
    runtime::Grid grid{};
    std::vector<ArgumentValue> values;
  };

  Result<Tensor> filled(std::vector<int64_t> shape, DType dtype, double value);
  Result<runtime::Kernel> compiled(const Launch &launch) const;
  /// The seconds of one launch, the best of several of them.
  Result<double> best(const Launch &launch);
  /// E0705 unless the element is what it must be.
  Status expect(const Launch &launch, const Tensor &tensor, int64_t element, double expected) const;

  Status measureMemory();
  Status measureCache();
  Status measurePeak(DType dtype);
  Status measureProducts(DType dtype);
  Status measureLaunches();
  int64_t programs() const { return chip.cores * programsOfProcessor; }

  runtime::Device &device;
  const CalibrationOptions &options;
  Machine chip;
  double spread = 0;
};

Diagnostic toError(const LaunchError &error) { return makeError(error.code, error.message); }

Result<Tensor> Calibration::filled(std::vector<int64_t> shape, DType dtype, double value) {
  Tensor here = Tensor::empty(shape, dtype);
  Tensor there = Tensor::empty(std::move(shape), dtype, device);
  if (!here.isValid()) {
    return makeError("E0506", fmt::format("no memory for {} bytes", here.byteCount()));
  }
  if (!there.isValid()) {
    return toError(device.noMemory(there.byteCount()));
  }
  (void)runtime::fillConstant(here, value);
  if (LaunchError error = there.copyFrom(here)) {
    return toError(error);
  }
  return there;
}

Result<runtime::Kernel> Calibration::compiled(const Launch &launch) const {
  Diagnostics diags;
  pipeline::CompileOptions compile;
  compile.target = options.target;
  auto kernel = pipeline::compileKernel({.path = "calibration.py",
                                         .function = launch.function,
                                         .signature = launch.signature,
                                         .source = calibrationKernels},
                                        compile, diags);
  return kernel ? Result<runtime::Kernel>(std::move(*kernel)) : firstError(diags);
}

Result<double> Calibration::best(const Launch &launch) {
  options.progress("calibrate: " + launch.function);
  auto kernel = compiled(launch);
  if (!kernel) {
    return kernel.error();
  }
  DeviceClock clock(device);
  std::vector<double> all;
  for (int i = 0; i <= options.repeats; ++i) {
    double seconds = 0;
    const LaunchError error = clock.time(
        1,
        [&](runtime::Stream &stream) {
          return runtime::launch(*kernel, launch.grid, launch.values, stream);
        },
        seconds);
    if (error) {
      return toError(error);
    }
    if (i > 0) { // the first one warms up
      all.push_back(std::max(seconds, 1e-9));
    }
  }
  const double least = *std::min_element(all.begin(), all.end());
  spread = std::max(spread, measure::percentile(all, 0.5) / least - 1);
  return least;
}

Status Calibration::expect(const Launch &launch, const Tensor &tensor, int64_t element,
                           double expected) const {
  double value = 0;
  if (LaunchError error = tensor.get(element, value)) {
    return toError(error);
  }
  if (value == expected) {
    return Done{};
  }
  return makeError("E0705", fmt::format("the kernel '{}' left {} in element {} on '{}', and {} is "
                                        "right",
                                        launch.function, value, element, device.name(), expected))
      .withHelp("its time says nothing; nereid verify tells whether other kernels are right there");
}

Status Calibration::measureMemory() {
  int64_t bytes = std::max(options.memoryBytes, 4 * chip.lastCacheBytes());
  bytes = chip.memoryBytes > 0 ? std::min(bytes, chip.memoryBytes / 8) : bytes;
  const int64_t n = std::max<int64_t>(bytes / 4 / block, 1) * block, grid = n / block;
  auto from = filled({n}, DType::F32, 1), to = filled({n}, DType::F32, 0);
  if (!from || !to) {
    return !from ? from.error() : to.error();
  }
  const auto counted = static_cast<double>(4 * n);
  const std::string size =
      n % 16 == 0 && n <= std::numeric_limits<int32_t>::max() ? "i32:16" : "i64";
  const Launch write{
      "write", fmt::format("*fp32:16, {}, fp32, {}", size, block), {grid, 1, 1}, {&*to, n, 3.0}};
  const Launch read{"read",
                    fmt::format("*fp32:16, *fp32:16, {}, {}", size, block),
                    {grid, 1, 1},
                    {&*to, &*from, n}};
  const Launch copy{"copy", read.signature, {grid, 1, 1}, {&*to, &*from, n}};
  for (const auto &[launch, bandwidth, moved, element, expected] :
       {std::tuple(&write, &chip.writeBandwidth, counted, n - 1, 3.0),
        std::tuple(&read, &chip.readBandwidth, counted, grid - 1, static_cast<double>(block)),
        std::tuple(&copy, &chip.copyBandwidth, 2 * counted, n - 1, 1.0)}) {
    auto seconds = best(*launch);
    if (!seconds) {
      return seconds.error();
    }
    if (Status right = expect(*launch, *to, element, expected); !right) {
      return right;
    }
    *bandwidth = moved / *seconds;
  }
  chip.bestCopy = "kernel";
  return Done{};
}

Status Calibration::measureCache() {
  const auto cache =
      std::find_if(chip.caches.begin(), chip.caches.end(),
                   [&](const CacheLevel &one) { return one.sharedBy >= chip.cores; });
  if (cache == chip.caches.end()) {
    return Done{};
  }
  // A quarter of it, which neither half of a cache in two halves lacks room for.
  const int64_t blocks = std::max<int64_t>(cache->bytes / 4 / 4 / block, 1);
  auto from = filled({blocks * block}, DType::F32, 1), to = filled({programs()}, DType::F32, 0);
  if (!from || !to) {
    return !from ? from.error() : to.error();
  }
  const int64_t rounds = std::max<int64_t>(options.rounds / 8, 1);
  const Launch launch{"read_again",
                      fmt::format("*fp32:16, *fp32:16, i32, i32, {}", block),
                      {programs(), 1, 1},
                      {&*to, &*from, rounds, blocks}};
  auto seconds = best(launch);
  if (!seconds) {
    return seconds.error();
  }
  cache->allBytesPerSecond = static_cast<double>(programs() * rounds * block * 4) / *seconds;
  cache->bytesPerSecond = cache->allBytesPerSecond / chip.cores;
  return expect(launch, *to, programs() - 1, static_cast<double>(rounds * block));
}

Status Calibration::measurePeak(DType dtype) {
  auto to = filled({programs() * block}, dtype, 0);
  if (!to) {
    return to.error();
  }
  const std::string type(kernelName(dtype));
  const Launch launch{"multiply_add",
                      fmt::format("*{}:16, {}, {}, i32, {}", type, type, type, block),
                      {programs(), 1, 1},
                      {&*to, 1.0, 1.0, options.rounds}};
  auto seconds = best(launch);
  if (!seconds) {
    return seconds.error();
  }
  const int64_t terms = options.rounds * chainsOfRound;
  chip.peakFlops[type] = static_cast<double>(2 * programs() * block * terms) / *seconds;
  return expect(launch, *to, programs() * block - 1,
                static_cast<double>(terms * (options.repeats + 1)));
}

/// The best of several shapes: how wide products have to be differs.
Status Calibration::measureProducts(DType dtype) {
  const std::string type(kernelName(dtype));
  for (const auto &[m, n, k, warps, perProcessor] :
       {std::tuple(128, 256, 64, 8, 1), std::tuple(128, 128, 64, 8, 2),
        std::tuple(128, 128, 64, 4, 2)}) {
    const int64_t grid = int64_t{chip.cores} * perProcessor;
    auto a = filled({m, depth}, dtype, 1), b = filled({depth, n}, dtype, 1);
    auto to = filled({grid, m, n}, DType::F32, 0);
    if (!a || !b || !to) {
      return !a ? a.error() : !b ? b.error() : to.error();
    }
    const int64_t rounds = std::max<int64_t>(options.rounds / 128, 1);
    const Launch launch{"products",
                        fmt::format("*fp32:16, *{}:16, *{}:16, i32, {}, {}, {}, {}, num_warps={}",
                                    type, type, depth, m, n, k, warps),
                        {grid, 1, 1},
                        {&*to, &*a, &*b, rounds}};
    auto seconds = best(launch);
    if (!seconds) {
      return seconds.error();
    }
    double &peak = chip.peakFlops[type];
    const double all = 2.0 * m * n * static_cast<double>(depth * rounds * grid);
    peak = std::max(peak, all / *seconds);
    if (Status right = expect(launch, *to, grid * m * n - 1, static_cast<double>(rounds * depth));
        !right) {
      return right;
    }
  }
  return Done{};
}

/// By the host's clock, which is what a caller has.
Status Calibration::measureLaunches() {
  auto to = filled({block}, DType::F32, 0);
  if (!to) {
    return to.error();
  }
  const Launch launch{
      "write", fmt::format("*fp32:16, i32, fp32, {}", block), {1, 1, 1}, {&*to, int64_t{0}, 0.0}};
  options.progress("calibrate: launches");
  auto kernel = compiled(launch);
  if (!kernel) {
    return kernel.error();
  }
  const measure::Clock clock = measure::steadyClock();
  const auto timed = [&](int launches) -> Result<double> {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= options.repeats; ++i) {
      const double start = clock();
      const LaunchError error = device.runAndWait([&](runtime::Stream &stream) {
        LaunchError failed;
        for (int j = 0; j < launches && !failed; ++j) {
          failed = runtime::launch(*kernel, launch.grid, launch.values, stream);
        }
        return failed;
      });
      if (error) {
        return toError(error);
      }
      least = std::min(least, clock() - start);
    }
    return least;
  };
  constexpr int many = 1000;
  auto one = timed(1), all = timed(many);
  if (!one || !all) {
    return !one ? one.error() : all.error();
  }
  chip.launchSeconds = *one;
  chip.queuedLaunchSeconds = *all / many;
  return Done{};
}

Result<Machine> Calibration::run() {
  for (const std::function<Status()> &figure : std::initializer_list<std::function<Status()>>{
           [&] { return measureMemory(); }, [&] { return measureCache(); },
           [&] { return measurePeak(DType::F32); }, [&] { return measurePeak(DType::F64); },
           [&] { return measureProducts(DType::F16); },
           [&] { return measureProducts(DType::BF16); }, [&] { return measureLaunches(); }}) {
    if (Status measured = figure(); !measured) {
      return measured.error();
    }
  }
  chip.isCalibrated = true;
  chip.calibration.times = 1;
  chip.calibration.lastSeconds = static_cast<int64_t>(std::time(nullptr));
  if (spread > mostSpread) {
    chip.calibration.uncertainty =
        fmt::format("repetitions of one figure were {:.0f} % apart", 100 * spread);
  }
  const std::string compiler = device.compiler();
  chip.calibratedBy =
      fmt::format("nereid {}{}{}", versionText(), compiler.empty() ? "" : ", ", compiler);
  return std::move(chip);
}

} // namespace

Result<Machine> calibrateDevice(runtime::Device &device, const CalibrationOptions &options) {
  return Calibration(device, options).run();
}

} // namespace nereid::bench
