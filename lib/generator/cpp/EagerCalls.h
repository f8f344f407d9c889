// SPDX-License-Identifier: Apache-2.0
// A definition's graph as C++ statements, one operation of `nereid::eager` after another: what the
// baseline is, and the launcher where a mode chose the eager form.
#pragma once

#include "lib/generator/SizeText.h"
#include "lib/generator/call/CalledOperator.h"

namespace nereid::generator {

/// Lines of a function's body, from the inputs under their names to `return`; the sizes are bound
/// before them (cppSizes).
std::string eagerCalls(const CalledOperator &called, const SizeNames &sizes);

} // namespace nereid::generator
