// SPDX-License-Identifier: Apache-2.0
// `tile-hoist-before-products`: move what a loop with one dot is followed by, and does not need its
// results, in front of it.
// Why: addresses, masks and biases of what follows are then known when the loop is lowered, so that
// it can be made part of the loop.
// Requires: tile IR. Guarantees: nothing that has side effects moves, and no load moves across one.
// Example:
//   acc = for k: { dot … } ; bias = load(p) ; store(out, acc + bias)
//   bias = load(p) ; acc = for k: { dot … } ; store(out, acc + bias)
#include "lib/tile/analysis/Coordinates.h"
#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/transforms/Passes.h"

using namespace mlir;

namespace nereid::tile {
namespace {

bool isVolatile(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && load.getIsVolatile();
}

/// One dot, and nobody else can tell when the loop runs.
bool isQuietProduct(scf::ForOp loop) {
  int64_t dots = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    dots += isa<DotOp>(op) ? 1 : 0;
    if (isVolatile(&op) || hasSideEffects(&op) || op.getNumRegions() != 0) {
      return false;
    }
  }
  return dots == 1;
}

bool isMovable(Operation *op) {
  return isElementwise(op) || isa<arith::ConstantOp, LoadOp, AddPtrOp, SplatOp, BroadcastOp,
                                  ExpandDimsOp, TransOp, ReshapeOp, MakeRangeOp>(op);
}

struct HoistBeforeProductsPass : PassWrapper<HoistBeforeProductsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistBeforeProductsPass)

  StringRef getArgument() const final { return "tile-hoist-before-products"; }
  StringRef getDescription() const final {
    return "move what does not need a product in front of its loop";
  }

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (isQuietProduct(loop)) {
        loops.push_back(loop);
      }
    });
    for (scf::ForOp loop : loops) {
      llvm::SmallPtrSet<Operation *, 32> staying{loop};
      Operation *next = nullptr;
      for (Operation *op = loop->getNextNode(); op; op = next) {
        next = op->getNextNode();
        if (hasSideEffects(op) || isVolatile(op) || op->hasTrait<mlir::OpTrait::IsTerminator>()) {
          break;
        }
        bool waits = llvm::any_of(op->getOperands(), [&](Value operand) {
          return staying.contains(operand.getDefiningOp());
        });
        if (waits || !isMovable(op)) {
          staying.insert(op);
        } else {
          op->moveBefore(loop);
        }
      }
    }
  }
};

} // namespace

std::unique_ptr<Pass> createHoistBeforeProductsPass() {
  return std::make_unique<HoistBeforeProductsPass>();
}

} // namespace nereid::tile
