// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/Roofline.h"

#include <algorithm>

namespace nereid::measure {

namespace {
/// On shared machines the memory's rate moves by a factor of 1.8 between minutes (docs/notes), so
/// only what is more than twice as quick as the floor is surely wrong.
constexpr double margin = 0.5;
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
