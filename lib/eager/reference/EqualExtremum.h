// SPDX-License-Identifier: Apache-2.0
// Which elements equal the largest or smallest one of their row, by which its gradient is shared:
// x == max(x). However far off x may be, the extremum is one of its elements, and equal to it.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// Whether the node compares elements for equality with the extremum of the same ones.
bool equalsExtremum(const definition::Operator &graph, const definition::Node &node);

/// Makes those certain whose intervals meet no other element's that may be the extremum: `x` and
/// `extremum` are the node's operands.
void boundEqual(const definition::Operator &graph, const definition::Node &node,
                const BoundedTensor &x, const BoundedTensor &extremum, BoundedTensor &equal);

} // namespace nereid::eager
