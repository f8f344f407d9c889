// SPDX-License-Identifier: Apache-2.0
// Whether one version of a program is quicker than another, or only seems to be. In one run the
// version before is timed twice in the same turns, so that what it differs from itself is known;
// two runs at different times have a yardstick beside each, so that what the machine differs is
// known.
#pragma once

#include "lib/measure/Timer.h"

namespace nereid::measure {

/// What is asked of a change before it counts: its size, and the chance that there is none.
constexpr double leastGain = 1.02, mostChance = 0.05;

struct Evidence {
  /// before / after, the median of pairs taken in turns: of the two turns of before that which says
  /// less, 1 where one says a gain and the other a loss.
  double gain = 1;
  double noise = 1;     ///< what before may differ from itself, as a gain: 1.01 is a hundredth
  double pValue = 1;    ///< that there is no difference, corrected for the number of tries
  double deviation = 0; ///< the largest relative standard deviation of a version's samples
  bool isShort = false; ///< a version was stopped before it had enough samples

  /// Samples deviate by more than a timing may, and by more than a quarter of what the versions
  /// differ: a twofold gain stands out of deviations that would swallow a hundredth.
  bool isNoisy() const;
  /// A gain of at least `least` that is more than noise, at the significance. A pair that is noisy
  /// or was stopped is not told apart, whatever it seems.
  bool isGain(double least, double chance) const;
  /// The same for a loss: a gain of at most 1 / `least`.
  bool isLoss(double least, double chance) const;
};

/// `before` and `again` are one version, timed in the same turns as `after`; `tries` counts the
/// changes that were weighed so far, this one included (Bonferroni).
Evidence weigh(const Timing &before, const Timing &again, const Timing &after, int tries);

/// A program timed in a run of its own, in turns with a fixed amount of work, the yardstick. One
/// without samples says nothing.
struct TimedRun {
  const Timing &program, &yardstick;
};

/// Two runs at different times of the same machine. Times are compared as they are and in units of
/// the yardstick of their own turn; of the two the one counts that says less, as a machine that
/// became slower slows the yardstick too. Noise is what the halves of each run differ.
Evidence weighRuns(const TimedRun &before, const TimedRun &after, int tries);

} // namespace nereid::measure
