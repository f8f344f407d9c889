// SPDX-License-Identifier: Apache-2.0
// Warps of a program that reduces, by the row or the columns that it has.
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Fewest and most of a program.
inline constexpr int64_t leastWarps = 4, mostWarps = 32;

/// The expression of launches, by the row alone: choices of other blocks leave it. Nothing of a
/// kernel that has the fewest.
std::string warpsOf(const StageKernel &kernel, const Program &program);

} // namespace nereid::generator
