// SPDX-License-Identifier: Apache-2.0
// `tile-print-blocking-loops`: say which loops may block, waiting for another program.
// Why: the analysis is tested by what it says, not through kernels that use it.
// Requires: tile IR. Guarantees: the program stays as it is.
// Example: at a spin lock's `scf.while` the remark `waits while 2 values stay as they are`.
#include "lib/tile/analysis/BlockingLoops.h"

#include "mlir/Pass/Pass.h"

namespace nereid::tile {
namespace {

struct PrintBlockingLoopsPass
    : mlir::PassWrapper<PrintBlockingLoopsPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintBlockingLoopsPass)

  llvm::StringRef getArgument() const final { return "tile-print-blocking-loops"; }
  llvm::StringRef getDescription() const final { return "say which loops may block"; }

  void runOnOperation() final {
    getOperation()->walk([](mlir::Operation *op) {
      if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) {
        if (auto observed = blocksOn(loop)) {
          loop.emitRemark() << "waits while " << observed->size() << " values stay as they are";
        }
      }
      if (mlir::isa<mlir::scf::ForOp>(op) && polls(op)) {
        op->emitRemark() << "polls";
      }
      if (auto function = mlir::dyn_cast<mlir::func::FuncOp>(op); function && mayBlock(function)) {
        op->emitRemark() << "may block";
      }
    });
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createPrintBlockingLoopsPass() {
  return std::make_unique<PrintBlockingLoopsPass>();
}

} // namespace nereid::tile
