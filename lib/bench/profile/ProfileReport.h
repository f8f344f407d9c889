// SPDX-License-Identifier: Apache-2.0
// Profiles as text for people and as JSON.
#pragma once

#include "lib/bench/profile/CaseProfile.h"

#include <nlohmann/json.hpp>

#include <string>

namespace nereid::bench {

std::string profileText(const CaseProfile &profile);
nlohmann::ordered_json profileJson(const CaseProfile &profile);

} // namespace nereid::bench
