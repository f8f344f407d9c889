// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/Timer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace nereid::measure {

namespace {

double sample(const Version &version, int runs, const Clock &clock) {
  version.prepare();
  double elapsed = 0;
  // Runs of their own where each is renewed, else all in one, which no reading of the clock
  // lengthens.
  const int together = version.renew ? 1 : runs;
  for (int done = 0; done < runs; done += together) {
    if (version.renew) {
      version.renew();
    }
    if (version.timedRuns) {
      elapsed += version.timedRuns(together);
      continue;
    }
    const double start = clock();
    for (int i = 0; i < together; ++i) {
      version.run();
    }
    elapsed += clock() - start;
  }
  version.finish();
  return elapsed / runs;
}

/// Runs until two successive times agree within 10 %, at most 10 times; returns runs per sample.
int warmUp(const Version &version, const TimerOptions &options, double deadline) {
  double previous = sample(version, 1, options.clock);
  for (int i = 0; i < 9 && options.clock() < deadline; ++i) {
    double current = sample(version, 1, options.clock);
    bool isStable = std::fabs(current - previous) <= 0.1 * previous;
    previous = current;
    if (isStable) {
      break;
    }
  }
  if (previous >= options.shortestSample) {
    return 1;
  }
  double runs = options.shortestSample / std::max(previous, 1e-9);
  return static_cast<int>(std::min(runs, 1e5)) + 1;
}

} // namespace

Clock steadyClock() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
}

static bool isSteady(const Summary &summary, const TimerOptions &options) {
  return summary.relativeDeviation <= options.maximumDeviation &&
         summary.p90 <= options.maximumTail * summary.median;
}

std::vector<Timing> timeInterleaved(const std::vector<Version> &versions,
                                    const TimerOptions &options) {
  double start = options.clock();
  double deadline = start + options.secondsBudget;
  std::vector<Timing> timings;
  for (const auto &version : versions) {
    Timing timing;
    timing.name = version.name;
    timing.runsPerSample = warmUp(version, options, start + options.secondsBudget / 3);
    timings.push_back(std::move(timing));
  }
  const double begin = options.clock();
  const auto isDone = [&](int rounds) {
    const double now = options.clock();
    if (rounds < options.minimumSamples || now - begin < options.leastSpan) {
      return false;
    }
    return now >= deadline || rounds >= options.maximumSamples ||
           std::all_of(timings.begin(), timings.end(), [&](const Timing &timing) {
             return isSteady(summarize(timing.samples), options);
           });
  };
  for (int round = 0; !options.isStopped() && !isDone(round); ++round) {
    for (size_t i = 0; i < versions.size(); ++i) {
      timings[i].samples.push_back(sample(versions[i], timings[i].runsPerSample, options.clock));
    }
  }
  for (auto &timing : timings) {
    judgeSamples(timing, options);
  }
  return timings;
}

void judgeSamples(Timing &timing, const TimerOptions &options) {
  timing.summary = summarize(timing.samples);
  timing.isNoisy = !isSteady(timing.summary, options);
  timing.isShort = timing.summary.count < options.minimumSamples;
}

} // namespace nereid::measure
