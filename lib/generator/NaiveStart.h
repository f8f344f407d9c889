// SPDX-License-Identifier: Apache-2.0
// Where optimisation begins: at the rule's choice, or at the kernel that somebody would write
// first, so that the way from there can be followed round by round.
#pragma once

#include "lib/generator/Schedule.h"

namespace nereid::generator {

enum class Start { Rule, Naive };
std::string_view startName(Start start); ///< "rule", "naive"
std::optional<Start> parseStart(std::string_view name);
/// The names parseStart knows.
const std::vector<std::string> &startNames();

/// Small blocks on a one-dimensional grid, ordinary stores, a row in pieces: the same for every
/// size, type and chip.
Schedule naiveSchedule(const FusedOperator &fused);

} // namespace nereid::generator
