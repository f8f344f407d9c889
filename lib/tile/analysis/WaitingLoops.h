// SPDX-License-Identifier: Apache-2.0
// Which loops may wait for another program of the grid: those whose end depends on memory that
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
std::optional<llvm::SmallVector<mlir::Value>> waitsOn(mlir::scf::WhileOp loop);

/// Some loop of the kernel, or of a function that it calls, waits.
bool mayWait(mlir::func::FuncOp kernel);

/// The operation, or one in its regions, looks at what other programs have done: it is a volatile
/// load, or an atomic whose result is used. A loop of so many turns that polls is no deadlock, but
/// others must run for the polling to succeed.
bool polls(mlir::Operation *op);

/// `tile-print-waiting-loops`: a remark at each loop that waits or polls.
std::unique_ptr<mlir::Pass> createPrintWaitingLoopsPass();

} // namespace nereid::tile
