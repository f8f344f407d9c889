// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/SummaryJson.h"

namespace nereid::measure {

void addSummary(nlohmann::ordered_json &json, const Summary &summary) {
  json["median"] = summary.median;
  json["p90"] = summary.p90;
  json["p99"] = summary.p99;
  json["minimum"] = summary.minimum;
  json["mean"] = summary.mean;
  json["standard_deviation"] = summary.deviation;
  json["interquartile_range"] = summary.interquartileRange;
  json["relative_deviation"] = summary.relativeDeviation;
  json["outliers"] = summary.outliers;
  json["samples"] = summary.count;
}

} // namespace nereid::measure
