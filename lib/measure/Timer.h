// SPDX-License-Identifier: Apache-2.0
// Times functions against each other in one run. The clock is passed in, so that tests drive it by
// hand; nothing here decides whether a result is correct, callers verify outputs in `afterSample`.
#pragma once

#include "lib/measure/Statistics.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::measure {

/// Seconds since some fixed point; monotonic.
using Clock = std::function<double()>;
Clock steadyClock();

/// One version to be timed. `prepare` runs before every sample, outside the timing (poison
/// outputs); `run` is timed; `finish` runs after every sample, outside the timing.
struct Version {
  std::string name;
  std::function<void()> run;
  std::function<void()> prepare = [] {};
  std::function<void()> finish = [] {};
};

struct TimerOptions {
  int minimumSamples = 20;
  int maximumSamples = 200;
  double maximumDeviation = 0.05; ///< above this relative deviation more samples are taken
  double secondsBudget = 10;      ///< for all versions together, warm-up included
  double shortestSample = 20e-6;  ///< quicker runs are repeated within one sample
  Clock clock = steadyClock();
};

struct Timing {
  std::string name;
  std::vector<double> samples; ///< seconds of one run
  Summary summary;
  int runsPerSample = 1;
  bool isNoisy = false; ///< deviation still above the limit when samples or budget ran out
  bool isShort = false; ///< fewer than minimumSamples fitted into the budget
};

/// Warms up until two successive runs agree, then takes one sample of each version in turn, so that
/// drift of the machine hits all alike.
std::vector<Timing> timeInterleaved(const std::vector<Version> &versions,
                                    const TimerOptions &options = {});

} // namespace nereid::measure
