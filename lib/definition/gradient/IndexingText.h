// SPDX-License-Identifier: Apache-2.0
// Reads and writes at indices from tensors as bodies spell them, and their derivatives: what is
// read gets its gradient added where it was read, what is written gets it from where it was
// written.
#pragma once

#include "lib/definition/operations/Operations.h"

#include <optional>

namespace nereid::definition {

/// The call of an Indexing node; `operands` are the texts of its operands.
std::string indexingText(const Node &node, const Operator &op,
                         const std::vector<std::string> &operands);

/// What of `grad`, which has the result's shape, operand number `operand` gets; nothing where
/// there is no derivative.
std::optional<std::string> indexingGradient(const Node &node, const Operator &op, size_t operand,
                                            const std::vector<std::string> &operands,
                                            const std::string &grad);
/// The shape of that: the table's, or that of the points.
SymbolicShape gradientShape(const Node &node, const Operator &op, size_t operand);

} // namespace nereid::definition
