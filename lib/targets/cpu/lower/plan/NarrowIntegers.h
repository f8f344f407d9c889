// SPDX-License-Identifier: Apache-2.0
// Integers of so few bits, or so near the end of their range, that the numbers of a tile's elements
// may wrap around: what grows by one from element to element is no interval there, nor are
// addresses made of it neighbours.
#pragma once

#include "lib/targets/cpu/lower/plan/TileAxes.h"

namespace nereid::cpu {

inline bool isNarrow(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::IntegerType>(elementTypeOf(value));
  return type && type.getWidth() < 32;
}

/// The numbers of a tile's elements may wrap around, as far as the program's text shows: they are
/// narrow, or a constant near the end of their range is added. What arguments add is not known;
/// there `nereid check` reports what wraps (E0808).
bool mayWrap(mlir::Value sum);

/// limit - first as an i64 that never wraps: of i64 the nearest number that there is.
mlir::Value distanceTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value limit,
                       mlir::Value first);

} // namespace nereid::cpu
