// SPDX-License-Identifier: Apache-2.0
// Loops of multiply-adds in registers, which nothing but the arithmetic units can hold up. The same
// ones serve calibration and, run in turns with a kernel, as the peak it is compared with.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace nereid::measure {

struct PeakLoop {
  void (*run)(int64_t rounds); ///< on the calling thread
  double flopsPerRound = 0;    ///< a multiply-add counts as two
};

/// Those this machine can run, by kernel dtype name: "fp32" and "fp64" always, "bf16" and "i8"
/// where there are instructions for their dot products.
std::map<std::string, PeakLoop> peakLoops();

} // namespace nereid::measure
