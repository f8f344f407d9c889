// SPDX-License-Identifier: Apache-2.0
// Movements in PyTorch, for the generated judge: of the values, and of how far each may be off.
#pragma once

#include "lib/definition/Graph.h"

#include <string>

namespace nereid::generator {

/// "lambda _fill, _x: _x.narrow(-1, 1, N - 1)"; sizes have the definition's names. _fill says
/// whether a padding's constant belongs there, or 0.
std::string movementLambda(const definition::Node &node);

} // namespace nereid::generator
