// SPDX-License-Identifier: Apache-2.0
// The definition document, <op>_definition.md: interface, constraints, complexity, bytes, FLOPs,
// intensity, side of the roofline, and the strategy that follows. The first stage's output.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// What the document needs to know of the chip; figures of 0 are left out of it.
struct ChipFigures {
  std::string name;
  double peakFlops = 0; ///< per second, in the document's type, all cores
  double bandwidth = 0; ///< bytes per second of a large copy, read and written counted
  double lastLevelCacheBytes = 0;
  int cores = 0;
};

/// Markdown; figures are for `dtype` and the operator's performance cases.
std::string definitionDocument(const Operator &op, DType dtype, const ChipFigures &chip);

} // namespace nereid::definition
