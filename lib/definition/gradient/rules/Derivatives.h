// SPDX-License-Identifier: Apache-2.0
// The derivatives of operations.def: what of a result's gradient each operand gets, as text in the
// language of definitions.
#pragma once

#include "lib/definition/Graph.h"

#include <string_view>

namespace nereid::definition {

/// Statements that assign `out`, over the operation's operands by their names, `result` (the
/// operation's value) and `grad` (the gradient with respect to it). Of a reduction `result` and
/// `grad` have kept their dimensions, and {dim}, {correction} and {count}, the number of elements
/// that became one, stand for what the node has. Null where there is none.
const std::string *derivativeOf(const Node &node, std::string_view operand);

/// Every row with a share as "name operand", for tests.
std::vector<std::string> allDerivatives();

} // namespace nereid::definition
