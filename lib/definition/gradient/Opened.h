// SPDX-License-Identifier: Apache-2.0
// Operations that have no derivative of their own, opened: their lowering stands in their place.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// The first of the operator's types that is one of floats; it has one.
DType gradientType(const Operator &op);

/// The operator with each operation through which a gradient goes to `inputs` (numbers of
/// parameters) and that has no rule for that, as the operations of its lowering where it has one.
Operator openedForGradient(const Operator &op, const std::vector<size_t> &inputs);

/// Operand `which` of a node of the operator gets no share of its gradient, wherever there is one.
bool passesNothing(const Operator &op, const Node &node, size_t which);

/// Of each node, whether what it computes depends on one of `inputs` with a derivative: of floats,
/// and not through an operation like floor alone.
std::vector<bool> dependsOn(const Operator &op, const std::vector<size_t> &inputs);

} // namespace nereid::definition
