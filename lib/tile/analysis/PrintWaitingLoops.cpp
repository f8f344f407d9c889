// SPDX-License-Identifier: Apache-2.0
// `tile-print-waiting-loops`: say which loops may wait for another program.
// Why: the analysis is tested by what it says, not through kernels that use it.
// Requires: tile IR. Guarantees: the program stays as it is.
// Example: at a spin lock's `scf.while` the remark `waits while 2 values stay as they are`.
#include "lib/tile/analysis/WaitingLoops.h"

#include "mlir/Pass/Pass.h"

namespace nereid::tile {
namespace {

struct PrintWaitingLoopsPass
    : mlir::PassWrapper<PrintWaitingLoopsPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintWaitingLoopsPass)

  llvm::StringRef getArgument() const final { return "tile-print-waiting-loops"; }
  llvm::StringRef getDescription() const final { return "say which loops may wait"; }

  void runOnOperation() final {
    getOperation()->walk([](mlir::Operation *op) {
      if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) {
        if (auto observed = waitsOn(loop)) {
          loop.emitRemark() << "waits while " << observed->size() << " values stay as they are";
        }
      }
      if (mlir::isa<mlir::scf::ForOp>(op) && polls(op)) {
        op->emitRemark() << "polls";
      }
      if (auto function = mlir::dyn_cast<mlir::func::FuncOp>(op); function && mayWait(function)) {
        op->emitRemark() << "may wait";
      }
    });
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createPrintWaitingLoopsPass() {
  return std::make_unique<PrintWaitingLoopsPass>();
}

} // namespace nereid::tile
