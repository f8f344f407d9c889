// SPDX-License-Identifier: Apache-2.0
// Timing of whatever a caller has: one callable, or two in turns; and the bandwidth of this machine
// to hold it against. A thin layer over lib/measure.
#include "lib/capi/Failure.h"
#include "lib/capi/Handles.h"
#include "lib/measure/ColdCaches.h"
#include "lib/measure/Timer.h"
#include "lib/measure/peaks/ThisChip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace nereid::capi {
namespace {

/// Most samples a caller may ask for.
constexpr int mostSamples = 1000000;

nereid_samples samplesOf(const measure::Timing &timing) {
  constexpr double nanosPerSecond = 1e9;
  const measure::Summary &summary = timing.summary;
  return {summary.count,
          summary.median * nanosPerSecond,
          summary.p90 * nanosPerSecond,
          summary.p99 * nanosPerSecond,
          summary.relativeDeviation,
          summary.mean * nanosPerSecond,
          summary.minimum * nanosPerSecond,
          timing.isNoisy ? 1 : 0};
}

/// Leaves the timer when a callback reports failure.
struct CallbackFailed {
  int result;
};

void call(nereid_callback callback, void *context) {
  if (const int result = callback(context); result != 0) {
    throw CallbackFailed{result};
  }
}

struct Timed {
  nereid_callback callback;
  void *context;
};

/// Each in turn. `function` is the one that was called, for what it refuses.
nereid_status timeAll(const char *function, const std::vector<Timed> &callables,
                      const nereid_time_options *options, std::vector<measure::Timing> &timings) {
  measure::TimerOptions timer;
  const nereid_time_options chosen = options ? *options : nereid_time_options{};
  if (chosen.minimum_samples < 0 || chosen.minimum_samples > mostSamples) {
    return refuse(function, "expects 0 to " + std::to_string(mostSamples) + " samples, but got " +
                                std::to_string(chosen.minimum_samples));
  }
  if (!std::isfinite(chosen.budget_seconds) || chosen.budget_seconds < 0) {
    return refuse(function, "expects a budget that is finite and not negative, but got " +
                                fmt::format("{}", chosen.budget_seconds));
  }
  // More than the usual number may be asked for, fewer may not: no answer rests on them.
  timer.minimumSamples = std::max(timer.minimumSamples, chosen.minimum_samples);
  timer.maximumSamples = std::max(timer.maximumSamples, timer.minimumSamples);
  timer.secondsBudget = chosen.budget_seconds > 0 ? chosen.budget_seconds : 5;
  std::optional<measure::ColdCaches> caches;
  if (chosen.cold_caches) {
    caches.emplace(detectMachine(), pool());
    timer.shortestSample = 0; // of several runs all but the first would find caches warm
  }
  std::vector<measure::Version> versions;
  for (const Timed &one : callables) {
    measure::Version version;
    version.run = [&one] { call(one.callback, one.context); };
    version.prepare = [&] {
      if (chosen.before_sample) {
        call(chosen.before_sample, chosen.context);
      }
      if (caches) {
        caches->empty();
      }
    };
    versions.push_back(std::move(version));
  }
  try {
    timings = measure::timeInterleaved(versions, timer);
    return NEREID_OK;
  } catch (const CallbackFailed &failure) {
    return refuse(function,
                  "was ended by a callback, which returned " + std::to_string(failure.result));
  }
}

} // namespace
} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;

extern "C" {

nereid_status nereid_time(nereid_callback callback, void *context,
                          const nereid_time_options *options, nereid_samples *result) {
  return guarded([&] {
    if (!callback || !result) {
      return refuse("nereid_time",
                    "expects a callback and a place for the result, but got a null pointer");
    }
    std::vector<measure::Timing> timings;
    const nereid_status status = timeAll("nereid_time", {{callback, context}}, options, timings);
    if (status == NEREID_OK) {
      *result = samplesOf(timings[0]);
    }
    return status;
  });
}

nereid_status nereid_time_pair(nereid_callback first, void *first_context, nereid_callback second,
                               void *second_context, const nereid_time_options *options,
                               nereid_time_pair_result *result) {
  return guarded([&] {
    if (!first || !second || !result) {
      return refuse("nereid_time_pair",
                    "expects two callbacks and a place for the result, but got a null pointer");
    }
    std::vector<measure::Timing> timings;
    const nereid_status status = timeAll(
        "nereid_time_pair", {{first, first_context}, {second, second_context}}, options, timings);
    if (status == NEREID_OK) {
      const double base = timings[1].summary.median;
      *result = {samplesOf(timings[0]), samplesOf(timings[1]),
                 base > 0 ? timings[0].summary.median / base : 0,
                 measure::mannWhitney(timings[0].samples, timings[1].samples).pValue,
                 timings[0].isNoisy || timings[1].isNoisy ? 1 : 0};
    }
    return status;
  });
}

nereid_status nereid_copy_bandwidth(double *bytes_per_second) {
  return guarded([&] {
    if (!bytes_per_second) {
      return refuse("nereid_copy_bandwidth",
                    "expects a place for the result, but got a null pointer");
    }
    // A library prints nothing.
    measure::CalibrationSeams seams = measure::systemSeams();
    seams.say = [](const std::string &) {};
    const Machine chip = measure::thisChip(false, seams);
    *bytes_per_second = pool().threadCount() == 1 ? chip.copyBandwidthOneCore : chip.copyBandwidth;
    return NEREID_OK;
  });
}
}
