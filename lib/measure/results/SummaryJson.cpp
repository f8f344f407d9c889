// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/results/SummaryJson.h"

#include <cmath>

namespace nereid::measure {

static nlohmann::ordered_json nanosOf(const std::vector<double> &samples) {
  auto nanos = nlohmann::ordered_json::array();
  for (double seconds : samples) {
    nanos.push_back(std::round(seconds * 1e12) / 1e3); // picoseconds are below every clock
  }
  return nanos;
}

void addTiming(nlohmann::ordered_json &json, const Timing &timing) {
  const Summary &summary = timing.summary;
  json["median"] = summary.median;
  json["p90"] = summary.p90;
  json["p99"] = summary.p99;
  json["minimum"] = summary.minimum;
  json["maximum"] = summary.maximum;
  json["mean"] = summary.mean;
  json["standard_deviation"] = summary.deviation;
  json["interquartile_range"] = summary.interquartileRange;
  json["relative_deviation"] = summary.relativeDeviation;
  json["outliers"] = summary.outliers;
  json["samples"] = summary.count;
  json["runs_per_sample"] = timing.runsPerSample;
  json["noisy"] = timing.isNoisy;
  json["few_samples"] = timing.isShort;
  json["sample_nanos"] = nanosOf(timing.samples);
}

nlohmann::ordered_json yardstickJson(const Timing &timing, double amount) {
  return {{"name", timing.name}, {"amount", amount}, {"sample_nanos", nanosOf(timing.samples)}};
}

} // namespace nereid::measure
