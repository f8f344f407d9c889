// SPDX-License-Identifier: Apache-2.0
// Integers of so few bits that the numbers of a tile's elements may wrap around in them: what grows
// by one from element to element is no interval there, nor are addresses made of it neighbours.
#pragma once

#include "lib/targets/cpu/lower/TileAxes.h"

namespace nereid::cpu {

inline bool isNarrow(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::IntegerType>(elementTypeOf(value));
  return type && type.getWidth() < 32;
}

} // namespace nereid::cpu
