// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/Evidence.h"

#include <algorithm>

namespace nereid::measure {

bool Evidence::isGain(double least, double significance) const {
  return !isNoisy && gain >= least && gain > noise && pValue < significance;
}

bool Evidence::isLoss(double least, double significance) const {
  Evidence reversed = *this;
  reversed.gain = gain > 0 ? 1 / gain : 0;
  return reversed.isGain(least, significance);
}

Evidence weigh(const Timing &before, const Timing &again, const Timing &after, int tries) {
  Evidence evidence;
  const auto [low, high] = std::minmax(
      {medianRatio(before.samples, after.samples), medianRatio(again.samples, after.samples)});
  evidence.gain = low > 1 ? low : std::min(high, 1.0);
  const RatioInterval same = ratioOfMedians(before.samples, again.samples);
  evidence.noise = std::max({1.0, same.high, same.low > 0 ? 1 / same.low : 1.0});
  const double larger = std::max(mannWhitney(before.samples, after.samples).pValue,
                                 mannWhitney(again.samples, after.samples).pValue);
  evidence.pValue = std::min(1.0, larger * std::max(1, tries));
  for (const Timing *timing : {&before, &again, &after}) {
    evidence.isNoisy = evidence.isNoisy || timing->isNoisy || timing->isShort;
  }
  return evidence;
}

} // namespace nereid::measure
