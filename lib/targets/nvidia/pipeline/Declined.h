// SPDX-License-Identifier: Apache-2.0
// Loops whose products' operands are not copied ahead: why, as a remark (R0404).
#pragma once

#include "lib/tile/ir/Tile.h"

namespace nereid::nvidia {

/// Says it at the operation, the loop or a load of it, where the loop has a product in its own
/// block; nothing otherwise, for there is nothing to copy.
void declineLoop(mlir::scf::ForOp loop, mlir::Operation *at, const llvm::Twine &why);

/// A loop in which stagedLoadsOf() finds nothing, or whose turns may not overlap: says what is in
/// the way.
void declineTurns(mlir::scf::ForOp loop);
void declineOperands(mlir::scf::ForOp loop);

} // namespace nereid::nvidia
