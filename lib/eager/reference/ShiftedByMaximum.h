// SPDX-License-Identifier: Apache-2.0
// Bounds for x - max(x), which no rule for a single operation can give: where x is exact it is
// never positive, and what falls below the type's range is as good for exp as the number itself.
// Softmax and its kin stand on that. Nothing is known where x is computed: a compiler may contract
// its last product with the difference, which then is no longer 0 at the maximum.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// The node whose maximum `node` subtracts from it, -1 when it is no such difference. The maximum
/// may be replaced by a number where it is not finite.
int shiftedByMaximum(const definition::Operator &graph, const definition::Node &node);

/// Takes back that differences of exact elements below the type's range are lost.
void boundShifted(const BoundedTensor &x, const BoundedTensor &maximum, BoundedTensor &shifted);

} // namespace nereid::eager
