// SPDX-License-Identifier: Apache-2.0
// Ends that values keep whatever is rounded: what a clamp leaves lies between its bounds, which the
// interval of a value and its error may reach beyond.
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/elements/DType.h"

#include <limits>

namespace nereid::eager {

struct Ends {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Of a node of floats, NaN aside; `types` are those of all nodes.
Ends knownEnds(const definition::Operator &graph, int node, const std::vector<DType> &types);

/// Of a node of floats, NaN aside: squares, and what is made of such numbers by additions, products
/// and quotients alone, round to nothing below 0. A variance is such a number.
bool isNeverNegative(const definition::Operator &graph, int node);
/// The same, of which a zero has no sign, either.
bool hasPositiveZeros(const definition::Operator &graph, int node);

} // namespace nereid::eager
