// SPDX-License-Identifier: Apache-2.0
// Shapes, layouts and places in memory from text, as a user writes them by hand. Errors are E0440.
#pragma once

#include "lib/layout/Banks.h"
#include "lib/layout/LinearLayout.h"
#include "lib/support/Diagnostics.h"

#include <string_view>

namespace nereid::layout {

/// "64x32": powers of two, 2^20 elements at most, as tiles have them.
Result<LinearLayout::Shape> parseShape(std::string_view text);

/// "registers 1 2, lanes 4 8 16 32 64, warps 128 256", as LinearLayout::text() writes it, or with
/// `=` and brackets, as the text of a phase has it, also inside of `#name<…>`. A list that is left
/// out has no bits.
Result<LinearLayout> parseLayout(std::string_view text, LinearLayout::Shape shape);

/// "2 4 8 16": the byte for each bit of an element's number, from the lowest on.
Result<Places> parsePlaces(std::string_view text, const LinearLayout::Shape &shape);

} // namespace nereid::layout
