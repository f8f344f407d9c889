// SPDX-License-Identifier: Apache-2.0
// Times functions against each other in one run. The clock is passed in, so that tests drive it by
// hand; nothing here decides whether a result is correct, callers verify outputs in `afterSample`.
#pragma once

#include "lib/measure/statistics/Statistics.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::measure {

/// Seconds since some fixed point; monotonic.
using Clock = std::function<double()>;
Clock steadyClock();

/// One version to be timed: `run`. Outside the timing, `prepare` runs before every sample and
/// `finish` after it; `renew` before every run of a sample that has several (poison outputs, so
/// that no run finds its work done by the last one).
struct Version {
  std::string name;
  std::function<void()> run;
  std::function<void()> prepare = [] {};
  std::function<void()> finish = [] {};
  std::function<void()> renew = {};
  /// So many runs, and the seconds that they took by another clock than TimerOptions'; empty: `run`
  /// is called.
  std::function<double(int runs)> timedRuns = {};
};

struct TimerOptions {
  int minimumSamples = 20;        ///< taken whatever the budget
  int maximumSamples = 200;       ///< more only where these take less than leastSpan
  double maximumDeviation = 0.05; ///< above this relative deviation more samples are taken
  /// Likewise above this ratio of p90 to the median: what hits every tenth sample, and all that
  /// hits it, are outliers to the deviation.
  double maximumTail = 1.5;
  double secondsBudget = 10;     ///< for all versions together, warm-up included; lengthens only
  double shortestSample = 20e-6; ///< quicker runs are repeated within one sample
  /// Seconds that sampling lasts at least, whatever the budget: other work comes in bursts of
  /// milliseconds, and samples of microseconds that fit between two of them all agree.
  double leastSpan = 60e-3;
  Clock clock = steadyClock();
  std::function<bool()> isStopped = [] { return false; }; ///< asked between samples
};

struct Timing {
  std::string name;
  std::vector<double> samples; ///< seconds of one run
  Summary summary;
  int runsPerSample = 1;
  bool isNoisy = false; ///< still above a limit when samples or budget ran out
  bool isShort = false; ///< stopped before minimumSamples were taken
};

/// Warms up until two successive runs agree, then takes one sample of each version in turn, so that
/// drift of the machine hits all alike.
std::vector<Timing> timeInterleaved(const std::vector<Version> &versions,
                                    const TimerOptions &options = {});

/// Fills in what follows from the samples: summary, isNoisy, isShort.
void judgeSamples(Timing &timing, const TimerOptions &options);

} // namespace nereid::measure
