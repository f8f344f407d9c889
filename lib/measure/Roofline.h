// SPDX-License-Identifier: Apache-2.0
// How quick an operation could be on a chip, from what it must move and compute. Williams,
// Waterman and Patterson 2009.
#pragma once

#include "lib/measure/Chip.h"

#include <algorithm>

namespace nereid::measure {

struct Roofline {
  double memorySeconds = 0;  ///< bytes / copy bandwidth
  double computeSeconds = 0; ///< flops / peak
  double floorSeconds() const { return std::max(memorySeconds, computeSeconds); }
  bool isMemoryBound() const { return memorySeconds >= computeSeconds; }
  double ridge = 0; ///< FLOP per byte where both are equal
};

Roofline roofline(const Chip &chip, double bytes, double flops, DType dtype);

/// A time this far below the floor cannot be true for data beyond the caches: the work was not done
/// or the clock is wrong. Data that fits into the last cache may beat the memory floor.
bool isImpossible(const Chip &chip, const Roofline &floor, double bytes, double seconds);

} // namespace nereid::measure
