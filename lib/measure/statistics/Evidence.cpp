// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/statistics/Evidence.h"

#include <algorithm>
#include <cstddef>

namespace nereid::measure {

bool Evidence::isNoisy() const {
  constexpr double mostOfDifference = 0.25;
  const double difference = gain > 0 ? std::max(gain, 1 / gain) - 1 : 0;
  return deviation > std::max(TimerOptions().maximumDeviation, mostOfDifference * difference);
}

bool Evidence::isGain(double least, double chance) const {
  return !isShort && !isNoisy() && gain >= least && gain > noise && pValue < chance;
}

bool Evidence::isLoss(double least, double chance) const {
  Evidence reversed = *this;
  reversed.gain = gain > 0 ? 1 / gain : 0;
  return reversed.isGain(least, chance);
}

namespace {

/// Of two gains the one that says less: 1 where one of them is a loss.
double lesserGain(double first, double second) {
  const auto [low, high] = std::minmax({first, second});
  return low > 1 ? low : std::min(high, 1.0);
}

/// What two sets of samples of one version may differ.
double noiseOf(const std::vector<double> &first, const std::vector<double> &second) {
  const RatioInterval same = ratioOfMedians(first, second);
  return std::max({1.0, same.high, same.low > 0 ? 1 / same.low : 1.0});
}

double noiseOfHalves(const std::vector<double> &samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  return noiseOf({samples.begin(), middle}, {middle, samples.end()});
}

void addDeviation(Evidence &evidence, const Timing &timing) {
  evidence.deviation = std::max(evidence.deviation, timing.summary.relativeDeviation);
  evidence.isShort = evidence.isShort || timing.isShort;
}

double corrected(double pValue, int tries) { return std::min(1.0, pValue * std::max(1, tries)); }

std::vector<double> inYardsticks(const TimedRun &run) {
  std::vector<double> relative;
  for (size_t i = 0; i < run.program.samples.size(); ++i) {
    relative.push_back(run.program.samples[i] / run.yardstick.samples[i]);
  }
  return relative;
}

bool hasYardstick(const TimedRun &run) {
  return !run.program.samples.empty() && run.program.samples.size() == run.yardstick.samples.size();
}

} // namespace

Evidence weigh(const Timing &before, const Timing &again, const Timing &after, int tries) {
  Evidence evidence;
  evidence.gain = lesserGain(medianRatio(before.samples, after.samples),
                             medianRatio(again.samples, after.samples));
  evidence.noise = noiseOf(before.samples, again.samples);
  const double larger = std::max(mannWhitney(before.samples, after.samples).pValue,
                                 mannWhitney(again.samples, after.samples).pValue);
  evidence.pValue = corrected(larger, tries);
  for (const Timing *timing : {&before, &again, &after}) {
    addDeviation(evidence, *timing);
  }
  return evidence;
}

Evidence weighRuns(const TimedRun &before, const TimedRun &after, int tries) {
  Evidence evidence;
  auto weighSamples = [&](const std::vector<double> &then, const std::vector<double> &now) {
    Evidence own;
    const double median = percentile(now, 0.5);
    own.gain = median > 0 ? percentile(then, 0.5) / median : 1;
    own.noise = std::max(noiseOfHalves(then), noiseOfHalves(now));
    own.pValue = corrected(mannWhitney(then, now).pValue, tries);
    return own;
  };
  evidence = weighSamples(before.program.samples, after.program.samples);
  if (hasYardstick(before) && hasYardstick(after)) {
    const Evidence relative = weighSamples(inYardsticks(before), inYardsticks(after));
    evidence.gain = lesserGain(evidence.gain, relative.gain);
    evidence.noise = std::max(evidence.noise, relative.noise);
    evidence.pValue = std::max(evidence.pValue, relative.pValue);
  }
  for (const Timing *timing : {&before.program, &after.program}) {
    addDeviation(evidence, *timing);
  }
  return evidence;
}

} // namespace nereid::measure
