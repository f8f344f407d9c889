// SPDX-License-Identifier: Apache-2.0
// What is known about the combination that the region of a reduction or a scan computes.
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace nereid::tile {

/// Per source of a tile.reduce or tile.scan the value that changes nothing when it is combined;
/// empty when the region has none known.
llvm::SmallVector<mlir::TypedAttr> neutralElementsOf(mlir::Operation *reduction);

/// Combining with a value a second time changes nothing: a minimum, a maximum.
bool isIdempotent(mlir::Operation *reduction);

} // namespace nereid::tile
