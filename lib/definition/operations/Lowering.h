// SPDX-License-Identifier: Apache-2.0
// Pointwise operations written in others, as operations.def has them: one table row and no C++ for
// each. What generates code needs to know primitives only; the reference computes each operation by
// itself, so that it judges these formulas.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// The graph that computes the operation: its parameters are the node's operands, in order; one
/// output. Null when the operation is a primitive, or no pointwise one.
const Operator *loweringOf(const Node &node);

/// Every row's, by "name" or "name attribute=value"; null for a text that the body reader refuses.
std::vector<std::pair<std::string, const Operator *>> allLowerings();

} // namespace nereid::definition
