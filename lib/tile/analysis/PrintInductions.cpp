// SPDX-License-Identifier: Apache-2.0
// `tile-print-inductions`: say which values a loop only adds to, the same amount to all elements.
// Why: the analysis is tested by what it says, not through kernels that use it.
// Requires: tile IR. Guarantees: the program stays as it is.
// Example: at `scf.for … iter_args(%p = …)` the remark `argument 1 is an induction`.
#include "lib/tile/analysis/Inductions.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/Pass/Pass.h"

namespace nereid::tile {
namespace {

struct PrintInductionsPass : mlir::PassWrapper<PrintInductionsPass, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintInductionsPass)

  llvm::StringRef getArgument() const final { return "tile-print-inductions"; }
  llvm::StringRef getDescription() const final { return "say what loops only add to"; }

  void runOnOperation() final {
    Inductions inductions;
    inductions.find(getOperation());
    getOperation()->walk([&](mlir::scf::ForOp loop) {
      for (mlir::BlockArgument carried : loop.getRegionIterArgs()) {
        if (inductions.of(carried)) {
          loop.emitRemark() << "argument " << carried.getArgNumber() << " is an induction";
        }
      }
    });
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createPrintInductionsPass() {
  return std::make_unique<PrintInductionsPass>();
}

} // namespace nereid::tile
