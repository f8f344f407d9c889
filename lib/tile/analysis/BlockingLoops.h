// SPDX-License-Identifier: Apache-2.0
// Blocking loops, which may wait for another program of the grid: their end depends on memory that
// others write. A target has to let the other programs run meanwhile, and whoever launches the
// kernel has to have them side by side.
#pragma once

#include "lib/tile/ir/Tile.h"

#include <memory>
#include <optional>

namespace mlir {
class Pass;
} // namespace mlir

namespace nereid::tile {

/// Nothing when the condition is computed from values alone. Otherwise the scalars of the condition
/// block that the condition depends on: while none of them changes, the program only waits.
std::optional<llvm::SmallVector<mlir::Value>> blocksOn(mlir::scf::WhileOp loop);

/// Some loop of the kernel, or of a function that it calls, is a blocking one.
bool mayBlock(mlir::func::FuncOp kernel);

/// The operation, or one in its regions, looks at what other programs have done: it is a volatile
/// load, or an atomic whose result is used. A loop of so many turns that polls is no deadlock, but
/// others must run for the polling to succeed.
bool polls(mlir::Operation *op);

/// `tile-print-blocking-loops`: a remark at each loop that blocks or polls.
std::unique_ptr<mlir::Pass> createPrintBlockingLoopsPass();

} // namespace nereid::tile
