// SPDX-License-Identifier: Apache-2.0
// The descriptor of the machine that the program runs on, with the best rates of several days: a
// machine that is shared or busy shows what it can do only now and then.
#pragma once

#include "lib/measure/peaks/Roofline.h"

#include <functional>

namespace nereid::measure {

/// What others did with the processors for a while, as shares of all of them.
struct Disturbance {
  double others = 0; ///< other processes of this system
  double stolen = 0; ///< other guests of the same host

  /// "other processes used 40 % of the processors", or "" on a quiet machine.
  std::string text() const;
};

/// What calibration needs of its surroundings; tests bring their own.
struct CalibrationSeams {
  std::string folder; ///< where the descriptor is kept; empty = nowhere
  std::function<Machine()> detect;
  std::function<double(Machine &)> calibrate;   ///< as measure::calibrate
  std::function<Disturbance()> disturbance;     ///< since it was asked last
  std::function<void()> waitAWhile;             ///< for the machine to become quiet
  std::function<int64_t()> now;                 ///< seconds since 1970
  std::function<void(const std::string &)> say; ///< what takes so long
};
/// The user's cache folder, this machine and its clocks; says it on standard error.
CalibrationSeams systemSeams();

/// The file in `folder` that keeps the rates of a chip, by its fingerprint; "" without a folder.
std::string chipPath(const Machine &chip, const std::string &folder);

/// detectMachine, with the rates from the folder or measured now and kept there. Rates that were
/// taken on a machine that was not quiet, and those of a few days, are measured again when it is
/// quiet; the better ones are kept.
Machine thisChip(bool recalibrate = false, const CalibrationSeams &seams = systemSeams());

/// A line for tables that compare with uncertain rates; "" where they are not.
std::string uncertaintyNote(const Machine &chip);

/// What a time on this machine was taken for: `type` is that of the arithmetic, `beside` what was
/// timed in the same turns, as isImpossible() takes it.
struct TimedWork {
  double bytes = 0, flops = 0;
  DType type = DType::F32;
  Roofline beside;
  double seconds = 0;
};
/// isImpossible(), by the rates of this machine that `chip` has. Where those are uncertain they are
/// measured again before they speak against a time: the machine may be quieter now than it was.
/// Those of a device are taken as they are.
bool isImpossibleHere(const Machine &chip, const TimedWork &work,
                      const CalibrationSeams &seams = systemSeams());

/// The better rates of two calibrations of one chip. `known` is not believed where it is several
/// times what was measured now on a quiet machine.
Machine betterRates(const Machine &known, const Machine &now);

} // namespace nereid::measure
