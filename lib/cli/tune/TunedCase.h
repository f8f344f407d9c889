// SPDX-License-Identifier: Apache-2.0
// What became of the configs of triton.autotune that a case leaves open, as `nereid tune` tells it
// and as its own processes pass it on.
#pragma once

#include "lib/bench/tuning/ConfigSearch.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace nereid::cli {

/// Configs, by their number among a kernel's, that are not tried any more, and why.
using ConfigFates = std::map<size_t, std::string>;

struct TunedCase {
  /// As printed: "case", "configs" (each with "config" and either its figures or "refused"),
  /// "kept".
  nlohmann::ordered_json json;
  bool hasRight = false;        ///< some config is right
  std::optional<size_t> lostBy; ///< the config that has taken the device from this process
};

/// Searches among all configs but those with a fate.
TunedCase searchedCase(const std::string &name, const bench::OpenConfigs &open,
                       const ConfigFates &fates, const bench::KernelMeasurement &how,
                       const Machine &chip);

/// A table under the case's name, from TunedCase::json.
std::string tunedText(const nlohmann::ordered_json &tuned);

} // namespace nereid::cli
