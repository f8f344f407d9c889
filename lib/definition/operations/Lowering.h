// SPDX-License-Identifier: Apache-2.0
// Pointwise operations written in others, as operations.def has them: one table row and no C++ for
// each. What generates code needs to know primitives only; the reference computes each operation by
// itself, so that it judges these formulas.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// The graph that computes the operation on operands of the type `computed`: its parameters are the
/// node's operands, in order; one output. Null when the operation is a primitive there, or no
/// pointwise one.
const Operator *loweringOf(const Node &node, DType computed = DType::F32);

/// False when the table has forms of the operation, and none for these attributes; `known` are then
/// the conditions of those it has ("n=0", "n=1").
bool hasForm(const Node &node, std::vector<std::string> &known);

/// Every row's, by "name" or "name attribute=value"; null for a text that the body reader refuses.
std::vector<std::pair<std::string, const Operator *>> allLowerings();

} // namespace nereid::definition
