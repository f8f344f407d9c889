// SPDX-License-Identifier: Apache-2.0
// Which element of an operand an element of a result is made of, for operations that work element
// by element or change shapes.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace nereid::tile {

/// Coordinates of an element of a tile: per dimension the number of a loop dimension, or `zeroDim`.
/// One loop dimension stands at most once.
constexpr int8_t zeroDim = -1;
using Dims = llvm::SmallVector<int8_t, 4>;

/// Element by element on its operands: every arith and math operation, addptr and pointer casts.
bool isElementwise(mlir::Operation *op);
/// A reshape that only inserts or removes dimensions of size 1.
bool isTrivialReshape(mlir::Operation *op);
/// The operation reads this operand at other coordinates than mapDims tells.
bool readsElsewhere(mlir::Operation *op, mlir::Value operand);
/// Coordinates of operand `operand` from those of the result. The operation is elementwise, a load
/// or a shape operation; all zero where it reads elsewhere.
Dims mapDims(mlir::Operation *op, mlir::Value operand, const Dims &dims);

} // namespace nereid::tile
