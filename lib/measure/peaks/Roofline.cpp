// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/peaks/Roofline.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::measure {

namespace {

/// On shared machines the memory's rate moves by a factor of 1.8 between minutes (docs/notes), so
/// only what is more than twice as quick as the floor is surely wrong; twice as much where the
/// rates were taken on a busy machine.
constexpr double margin = 0.5;
constexpr double uncertainMargin = 0.25;
/// What is above this share of its roofline says that the roofline is wrong.
constexpr double mostOfRoofline = 1.05;

double memoryRate(const Machine &chip) {
  return std::max({chip.copyBandwidth, chip.readBandwidth, chip.writeBandwidth});
}

/// 0 = unknown.
double rateOf(const CacheLevel &cache, int cores) {
  return cache.allBytesPerSecond > 0 ? cache.allBytesPerSecond : cache.bytesPerSecond * cores;
}

double smallerOrOnly(double first, double second) {
  return second > 0 ? std::min(first, second) : first;
}

} // namespace

double memorySeconds(const Machine &chip, double bytes) {
  double seconds = 0, held = 0;
  for (size_t level = 0; level < chip.caches.size(); ++level) {
    const CacheLevel &cache = chip.caches[level];
    // What lies nearest to a device's processors is gone when a launch ends.
    if (chip.isDevice && cache.sharedBy < chip.cores) {
      continue;
    }
    const int instances = std::max(1, chip.cores / std::max(1, cache.sharedBy));
    const double here = std::min(bytes, static_cast<double>(cache.bytes) * instances) - held;
    if (here <= 0) {
      continue;
    }
    // No level is slower than those behind it; where it seems so it was measured in a bad moment.
    double rate = rateOf(cache, chip.cores);
    for (size_t behind = level + 1; behind < chip.caches.size() && rate > 0; ++behind) {
      rate = std::max(rate, rateOf(chip.caches[behind], chip.cores));
    }
    seconds += rate > 0 ? here / std::max(rate, memoryRate(chip)) : 0;
    held += here;
  }
  return memoryRate(chip) > 0 ? seconds + (bytes - held) / memoryRate(chip) : seconds;
}

DType peakType(const Machine &chip, DType dtype) {
  if (dtype == DType::F64) {
    return DType::F64;
  }
  dtype = dtype == DType::U8 ? DType::I8 : dtype;
  const bool hasOwn = chip.peakFlops.contains(std::string(kernelName(dtype)));
  return hasOwn ? dtype : DType::F32;
}

Roofline roofline(const Machine &chip, double bytes, double flops, DType dtype) {
  Roofline result;
  const double peak = chip.peakFor(dtype);
  result.memorySeconds = memorySeconds(chip, bytes);
  if (peak > 0) {
    result.computeSeconds = flops / peak;
  }
  if (chip.copyBandwidth > 0) {
    result.ridge = peak / chip.copyBandwidth;
  }
  return result;
}

bool isImpossible(const Machine &chip, const Roofline &floor, const Roofline &timed,
                  double seconds) {
  const double limit = std::max(smallerOrOnly(floor.memorySeconds, timed.memorySeconds),
                                smallerOrOnly(floor.computeSeconds, timed.computeSeconds));
  const bool isCertain = chip.calibration.uncertainty.empty();
  return seconds < (isCertain ? margin : uncertainMargin) * limit;
}

std::string rooflineFault(double share, bool isTimed, bool isOnDevice) {
  if (!(share > mostOfRoofline)) {
    return "";
  }
  return fmt::format("roofline too low ({:.0f} % of it): {}", 100 * share,
                     isTimed      ? "what was timed beside the kernel was held up"
                     : isOnDevice ? "calibrate again, nereid calibrate --target"
                                  : "calibrate again, nereid chips --recalibrate");
}

} // namespace nereid::measure
