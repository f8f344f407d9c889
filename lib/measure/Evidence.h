// SPDX-License-Identifier: Apache-2.0
// Whether one version of a program is quicker than another, or only seems to be. The version before
// is timed twice in the same turns, so that what it differs from itself is known.
#pragma once

#include "lib/measure/Timer.h"

namespace nereid::measure {

struct Evidence {
  /// before / after, the median of pairs taken in turns: of the two turns of before that which says
  /// less, 1 where one says a gain and the other a loss.
  double gain = 1;
  double noise = 1;     ///< what before may differ from itself, as a gain: 1.01 is a hundredth
  double pValue = 1;    ///< that there is no difference, corrected for the number of tries
  bool isNoisy = false; ///< a version deviates from itself too much, or was stopped

  /// A gain of at least `least` that is more than noise, at the significance. A noisy pair is not
  /// told apart, whatever it seems.
  bool isGain(double least, double significance) const;
  /// The same for a loss: a gain of at most 1 / `least`.
  bool isLoss(double least, double significance) const;
};

/// `before` and `again` are one version, timed in the same turns as `after`; `tries` counts the
/// changes that were weighed so far, this one included (Bonferroni).
Evidence weigh(const Timing &before, const Timing &again, const Timing &after, int tries);

} // namespace nereid::measure
