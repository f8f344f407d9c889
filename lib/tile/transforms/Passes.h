// SPDX-License-Identifier: Apache-2.0
// Passes over tile IR and the list of them that makes the phase `tile-opt`. Everything here is
// target-independent and must stay cheap: the phase runs on every compilation, also on small
// kernels whose whole way to machine code takes a few milliseconds.
#pragma once

#include "lib/tile/ir/Tile.h"

#include "mlir/Pass/PassManager.h"

#include <memory>

namespace nereid::tile {

// loadDialects(context) is declared in lib/tile/ir/Tile.h.

/// The phase `tile-opt`: roll what was unrolled beyond use, simplify, remove common subexpressions,
/// hoist what a loop does not change.
void buildTileOptPipeline(mlir::OpPassManager &manager);

/// `tile-roll-iterations`: a loop of the iterations of a large unrolled loop that do the same.
std::unique_ptr<mlir::Pass> createRollIterationsPass();

/// `tile-simplify`: folds and dead-code removal, with the tile, arith and scf patterns that pay.
std::unique_ptr<mlir::Pass> createSimplifyPass();

/// `tile-hoist-invariants`: loop-invariant code motion that never moves what could trap.
std::unique_ptr<mlir::Pass> createHoistInvariantsPass();

} // namespace nereid::tile
