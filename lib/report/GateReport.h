// SPDX-License-Identifier: Apache-2.0
// What a comparison with an earlier run says to people and to programs.
#pragma once

#include "lib/measure/statistics/Gate.h"

#include <nlohmann/json.hpp>

namespace nereid::report {

std::string gateTable(const measure::GateResult &result);
/// What all of it comes to, one line, with the limits that were applied.
std::string gateSummary(const measure::GateResult &result);
nlohmann::ordered_json gateJson(const measure::GateResult &result);

} // namespace nereid::report
