// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/Roofline.h"

#include <algorithm>

namespace nereid::measure {

namespace {
/// Calibration takes the best of a few runs; other runs may be a little quicker still.
constexpr double margin = 0.7;
} // namespace

Roofline roofline(const Chip &chip, double bytes, double flops, DType dtype) {
  Roofline result;
  double peak = chip.peakFor(dtype);
  if (chip.copyBandwidth > 0) {
    result.memorySeconds = bytes / chip.copyBandwidth;
  }
  if (peak > 0) {
    result.computeSeconds = flops / peak;
  }
  if (chip.copyBandwidth > 0) {
    result.ridge = peak / chip.copyBandwidth;
  }
  return result;
}

bool isImpossible(const Chip &chip, const Roofline &floor, double bytes, double seconds) {
  bool fitsCache = bytes < 4.0 * static_cast<double>(chip.lastCacheBytes());
  double limit = fitsCache ? floor.computeSeconds : floor.floorSeconds();
  return seconds < margin * limit;
}

} // namespace nereid::measure
