// SPDX-License-Identifier: Apache-2.0
// How quick an operation could be on a chip, from what it must move and compute. Williams,
// Waterman and Patterson 2009.
#pragma once

#include "lib/machine/Machine.h"

#include <algorithm>
#include <string>

namespace nereid::measure {

struct Roofline {
  double memorySeconds = 0;  ///< bytes at the rates of where they can live at best
  double computeSeconds = 0; ///< flops / peak
  double floorSeconds() const { return std::max(memorySeconds, computeSeconds); }
  bool isMemoryBound() const { return memorySeconds >= computeSeconds; }
  double ridge = 0; ///< FLOP per byte where both are equal, beyond the caches
};

Roofline roofline(const Machine &chip, double bytes, double flops, DType dtype);

/// Seconds that moving `bytes` takes at best: as much as each cache level holds, of all its
/// instances, stayed there since the last run, and the rest comes from memory. A level whose rate
/// is unknown costs nothing, so that nothing is called impossible for it.
double memorySeconds(const Machine &chip, double bytes);

/// The type whose peak arithmetic on elements of `dtype` may reach: dot products of narrow types
/// have instructions of their own.
DType peakType(const Machine &chip, DType dtype);

/// A time this far below the floor cannot be true: the work was not done or the clock is wrong.
/// `floor` is the calibrated one, `timed` what was timed beside the kernel took for the same work;
/// 0 = not timed. Of two the smaller counts.
bool isImpossible(const Machine &chip, const Roofline &floor, const Roofline &timed,
                  double seconds);

/// A share of the roofline that is no result, in words: the roofline is too low then. "" = it is
/// one. `isTimed`: by what was timed beside the kernel, not by the calibration.
/// `isOnDevice`: by that of a device.
std::string rooflineFault(double share, bool isTimed, bool isOnDevice = false);

} // namespace nereid::measure
