// SPDX-License-Identifier: Apache-2.0
// The figures of a summary as every result file names them.
#pragma once

#include "lib/measure/Statistics.h"

#include <nlohmann/json.hpp>

namespace nereid::measure {

/// Adds "median" to "samples" to a JSON object; times in seconds.
void addSummary(nlohmann::ordered_json &json, const Summary &summary);

} // namespace nereid::measure
