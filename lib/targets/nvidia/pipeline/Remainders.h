// SPDX-License-Identifier: Apache-2.0
// Neighbours that stay neighbours behind a remainder: `(start + tl.arange(0, 128)) % n` counts up
// by one in runs as long as the power of two that divides start and n, unless start is negative,
// which no analysis can exclude of most kernels and which a program can ask itself.
#pragma once

#include "lib/tile/analysis/axis/AxisInfo.h"

#include "mlir/IR/Builders.h"

namespace nereid::nvidia {

struct Neighbours {
  mlir::Value tile;                      ///< equal to the original where the condition holds
  mlir::Value condition;                 ///< i1; null where it always holds
  llvm::SmallVector<mlir::Value> starts; ///< scalars, i32, that the condition asks about
};

/// The tile made anew at `builder`'s place, with remainders whose runs are known to AxisInfos.
/// Nothing where the tile is made of no such remainder.
std::optional<Neighbours> withNeighbours(mlir::OpBuilder &builder, mlir::Value tile,
                                         const tile::AxisInfos &axes);

/// The tile made anew at `builder`'s place, by steps that no other place has in common, as they
/// begin with copies of the scalars `starts` of which nobody knows that they are some.
mlir::Value madeApart(mlir::OpBuilder &builder, mlir::Value tile,
                      llvm::ArrayRef<mlir::Value> starts);

} // namespace nereid::nvidia
