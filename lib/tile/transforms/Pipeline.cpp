// SPDX-License-Identifier: Apache-2.0
// The list of passes that makes the phase `tile-opt`, in order, with the reason for the order.
#include "lib/tile/transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

namespace nereid::tile {

void buildTileOptPipeline(mlir::OpPassManager &manager) {
  // Before anything takes time for every copy, and makes the copies differ by folding.
  manager.addPass(createRollIterationsPass());
  // The fewer operations, the less the next two compare and move.
  manager.addPass(createSimplifyPass());
  // Before hoisting, so that equal values inside and outside a loop become one.
  manager.addPass(mlir::createCSEPass());
  manager.addPass(createHoistInvariantsPass());
}

} // namespace nereid::tile
