// SPDX-License-Identifier: Apache-2.0
// Where optimisation begins: at the rules' choice, or at the kernel that somebody would write
// first, so that the way from there can be followed round by round.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::generator {

enum class Start { Rule, Naive };
std::string_view startName(Start start); ///< "rule", "naive"
std::optional<Start> parseStart(std::string_view name);
/// The names parseStart knows.
const std::vector<std::string> &startNames();

} // namespace nereid::generator
