// SPDX-License-Identifier: Apache-2.0
// Limits that definitions and the commands that work on them share.
#pragma once

#include <cstdint>

namespace nereid::definition {

/// Optimisation rounds of a definition in all, however often it is optimised.
inline constexpr int64_t mostRounds = 5;

} // namespace nereid::definition
