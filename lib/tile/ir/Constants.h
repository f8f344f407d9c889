// SPDX-License-Identifier: Apache-2.0
// Integers of tile IR that are known when a kernel is compiled.
#pragma once

#include "lib/tile/ir/Tile.h"

#include "mlir/IR/Matchers.h"

#include <optional>

namespace nereid::tile {

/// A number that is known, or the one of all elements of a tile.
inline std::optional<int64_t> constantOf(mlir::Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>()) {
    value = splat.getSource();
  }
  llvm::APInt number;
  return matchPattern(value, mlir::m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                           : std::nullopt;
}

} // namespace nereid::tile
