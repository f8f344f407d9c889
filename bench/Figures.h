// SPDX-License-Identifier: Apache-2.0
// What the programs here measure with: the clock, the median of lib/measure, and the figures of a
// row's samples in their result files, named as `nereid bench` names them.
#pragma once

#include "lib/measure/statistics/Statistics.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

inline double nanosNow() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

inline double median(const std::vector<double> &samples) {
  return nereid::measure::percentile(samples, 0.5);
}

/// Members of a JSON object, "\"median\": 1.5, …", in the unit of the samples.
inline std::string figuresJson(const std::vector<double> &samples) {
  const nereid::measure::Summary s = nereid::measure::summarize(samples);
  char text[512];
  std::snprintf(
      text, sizeof text,
      "\"samples\": %d, \"median\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"minimum\": %.1f, "
      "\"mean\": %.1f, \"standard_deviation\": %.2f, \"interquartile_range\": %.2f, "
      "\"relative_deviation\": %.4f",
      s.count, s.median, s.p90, s.p99, s.minimum, s.mean, s.deviation, s.interquartileRange,
      s.relativeDeviation);
  return text;
}
