// SPDX-License-Identifier: Apache-2.0
// A --grid expression as LLVM IR, a function for each specialization, whose constants it may name.
// Integers have 64 bits, with Python's meaning of // and %; what has no value or does not fit
// (a division by zero, an overflow) ends the function with a text that says so.
#pragma once

#include "lib/aot/Interface.h"

#include <string>

namespace nereid::aot {

/// "grid.0", of a specialization.
std::string gridName(size_t specialization);

/// The text of `define internal ptr @grid.0(ptr %slots, ptr %grid)`: Specialization::grid of
/// runtime/aot/Table.h. E0021 for a name that is neither an integer parameter nor an integer
/// constant, and for what is no integer expression.
Result<std::string> gridFunction(const std::string &text, const Interface &interface,
                                 size_t specialization);

/// What these functions refer to, once for a module.
std::string gridDeclarations();

} // namespace nereid::aot
