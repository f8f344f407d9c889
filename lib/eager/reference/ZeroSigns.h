// SPDX-License-Identifier: Apache-2.0
// Which zeros have a sign that an implementation must keep, and where it decides about more than
// itself: 1 / x is one infinity or the other.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/eager/reference/ReferenceGraph.h"

#include <vector>

namespace nereid::eager {

/// Per node: IEEE 754 says which sign a zero has, as only operations for which it does, or that
/// copy, lead to it. Extrema, sums of many and most functions leave it open.
std::vector<bool> zeroSigns(const definition::Operator &graph);

/// Whether the result depends on the sign of a zero of that operand.
bool readsZeroSign(const definition::Node &node, size_t operand);

/// With errors that say that zeros may be of either sign. Nothing where there is none, or where the
/// node has signs of zeros that an implementation must keep.
std::optional<BoundedTensor> withOpenZeros(const definition::Operator &graph, int node,
                                           const BoundedTensor &values);

} // namespace nereid::eager
