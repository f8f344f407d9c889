// SPDX-License-Identifier: Apache-2.0
// A ladder for people, as text, Markdown and a picture, and as JSON.
#pragma once

#include "lib/bench/ladder/Ladder.h"

#include <nlohmann/json.hpp>

#include <string>

namespace nereid::bench {

/// A rung a line: time, gain over the rung above and over the first, rates, bytes, the library
/// beside it, and what its code takes of a device, as far as the target tells. Below it what speaks
/// against a rung.
std::string ladderText(const Ladder &ladder);
std::string ladderMarkdown(const Ladder &ladder);
nlohmann::ordered_json ladderJson(const Ladder &ladder);

/// SVG: how many times as fast as the first rung each one is. Empty where nothing was timed.
std::string ladderPicture(const Ladder &ladder);

} // namespace nereid::bench
