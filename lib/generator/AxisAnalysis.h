// SPDX-License-Identifier: Apache-2.0
// Second step of fusion: which dimensions of all the values of a graph are the same axis. Aligned
// dimensions of pointwise operands are one axis (unless one is the constant 1); a reduction ends
// its axes. Union-find over (node, dimension), then one common order of the axes.
#pragma once

#include "lib/generator/Decompose.h"

namespace nereid::generator {

struct AxisSpace {
  /// Axes of the iteration space, outermost first, as the definition names them.
  std::vector<definition::Dim> axes;
  /// Per node and dimension the axis, -1 for a broadcast dimension.
  std::vector<std::vector<int>> axesOf;
  /// Axes that reductions combine: the last ones of the space, or none.
  std::vector<bool> isReduced;
};

/// E0607 when values would have to be transposed, or reductions combine different or leading axes.
Result<AxisSpace> analyseAxes(const PrimitiveGraph &graph, const definition::Operator &op);

} // namespace nereid::generator
