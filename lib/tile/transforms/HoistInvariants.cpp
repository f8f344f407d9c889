// SPDX-License-Identifier: Apache-2.0
// `tile-hoist-invariants`: move what a loop does not change in front of it.
// Why: masks, ranges and row offsets written inside a loop are computed once per program.
// Requires: tile IR. Guarantees: nothing moves that reads or writes memory or that could trap in a
// loop that never runs; MLIR's own pass treats the remainder by an unknown divisor as harmless.
// Loops that ask for it (`tile.disable_licm`) keep all they have.
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace nereid::tile {
namespace {

/// Integer division and remainder trap on 0, and signed ones on -1 with the smallest number.
bool mayTrap(mlir::Operation *op) {
  if (!mlir::isa<mlir::arith::DivSIOp, mlir::arith::DivUIOp, mlir::arith::RemSIOp,
                 mlir::arith::RemUIOp, mlir::arith::FloorDivSIOp, mlir::arith::CeilDivSIOp,
                 mlir::arith::CeilDivUIOp>(op)) {
    return false;
  }
  llvm::APInt divisor;
  bool isKnown = mlir::matchPattern(op->getOperand(1), mlir::m_ConstantInt(&divisor));
  return !isKnown || divisor.isZero() || divisor.isAllOnes();
}

struct HoistInvariantsPass : mlir::PassWrapper<HoistInvariantsPass, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistInvariantsPass)

  llvm::StringRef getArgument() const final { return "tile-hoist-invariants"; }
  llvm::StringRef getDescription() const final {
    return "move what a loop does not change in front of it";
  }

  void runOnOperation() final {
    getOperation()->walk([](mlir::LoopLikeOpInterface loop) {
      if (loop->hasAttr(attribute::disableLicm)) {
        return;
      }
      mlir::moveLoopInvariantCode(
          loop.getLoopRegions(),
          [&](mlir::Value value, mlir::Region *) { return loop.isDefinedOutsideOfLoop(value); },
          [](mlir::Operation *op, mlir::Region *) {
            return mlir::isMemoryEffectFree(op) && mlir::isSpeculatable(op) && !mayTrap(op);
          },
          [&](mlir::Operation *op, mlir::Region *) { loop.moveOutOfLoop(op); });
    });
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createHoistInvariantsPass() {
  return std::make_unique<HoistInvariantsPass>();
}

} // namespace nereid::tile
