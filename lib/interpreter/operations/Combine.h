// SPDX-License-Identifier: Apache-2.0
// What reductions and scans share: an axis moved to the front, and combining two groups of elements
// by the region of the operation.
#pragma once

#include "lib/interpreter/Instance.h"

namespace nereid::interpreter {

/// Combines left and right, tiles of rank 1, element by element into `results`. A region of
/// elementwise operations runs once on whole tiles, any other once per pair of elements.
bool combine(Instance &instance, mlir::Block &block, const Tiles &left, const Tiles &right,
             Tiles &results);

/// Elements begin..end of the leading axis, each `inner` elements long, as a tile of rank 1.
Tile slice(const Tile &source, size_t begin, size_t end, size_t inner);

/// Moves an axis to the front and merges all the others behind it; the shape stays as it was.
Tile axisToFront(const Tile &source, size_t axis);
/// The inverse.
Tile axisFromFront(const Tile &source, size_t axis);

} // namespace nereid::interpreter
