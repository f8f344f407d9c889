// SPDX-License-Identifier: Apache-2.0
// The figures of a timing as every result file names them.
#pragma once

#include "lib/measure/Timer.h"

#include <nlohmann/json.hpp>

namespace nereid::measure {

/// Adds to a JSON object "median" to "samples" (their number), in seconds, how they were taken, and
/// the samples themselves ("sample_nanos"), which is what a later run compares with.
void addTiming(nlohmann::ordered_json &json, const Timing &timing);

/// What was timed in turns with a program and is the same in every run: `amount` bytes or FLOPs.
nlohmann::ordered_json yardstickJson(const Timing &timing, double amount);

} // namespace nereid::measure
