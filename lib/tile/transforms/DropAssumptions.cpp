// SPDX-License-Identifier: Apache-2.0
// `tile-drop-assumptions`: what assumptions say about multiples becomes promises of the values, and
// the assumptions go, with what only they computed.
// Why: a target that makes nothing of them would compute conditions for nobody, and an operation
// with an effect in the middle of a kernel hides what can be done with the ones around it.
// Requires: tile IR. Guarantees: no tile.assume is left. Ranges are lost.
// Example: %r = arith.remsi %n, %c16; %c = arith.cmpi eq, %r, %c0; tile.assume %c
//   becomes {tile.divisibility = 16} of the argument %n
#include "lib/tile/analysis/axis/Assumptions.h"
#include "lib/tile/ir/Promises.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::tile {
namespace {

void promiseOfArgument(BlockArgument argument, int64_t divisor) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function) {
    return; // what a loop carries has no place for a promise
  }
  unsigned number = argument.getArgNumber();
  auto known = function.getArgAttrOfType<IntegerAttr>(number, promise::divisibility);
  Builder builder(argument.getContext());
  function.setArgAttr(number, promise::divisibility,
                      builder.getI64IntegerAttr(std::max(divisor, known ? known.getInt() : 1)));
}

void promiseOfResult(Operation *op, int64_t divisor) {
  if (op->getNumResults() != 1 || isa<arith::ConstantOp>(op)) {
    return;
  }
  if (auto known = op->getAttrOfType<DenseI64ArrayAttr>(promise::divisibility)) {
    divisor = std::max(divisor, known[0]);
  }
  op->setAttr(promise::divisibility, Builder(op).getDenseI64ArrayAttr(divisor));
}

/// Erases the operation that makes the value, when nobody needs it any more, and what it needed.
void eraseIfDead(Value value) {
  llvm::SetVector<Operation *> waiting;
  for (Operation *op = value.getDefiningOp(); op; op = waiting.pop_back_val()) {
    if (isOpTriviallyDead(op)) {
      for (Value operand : op->getOperands()) {
        if (Operation *made = operand.getDefiningOp()) {
          waiting.insert(made);
        }
      }
      op->erase();
    }
    if (waiting.empty()) {
      return;
    }
  }
}

struct DropAssumptionsPass : PassWrapper<DropAssumptionsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropAssumptionsPass)

  llvm::StringRef getArgument() const final { return "tile-drop-assumptions"; }
  llvm::StringRef getDescription() const final {
    return "keep what assumptions promise of values, and drop them";
  }

  void runOnOperation() final {
    const Assumptions assumptions(getOperation());
    for (auto [value, divisor] : assumptions.divisors()) {
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        promiseOfArgument(argument, divisor);
      } else {
        promiseOfResult(value.getDefiningOp(), divisor);
      }
    }
    SmallVector<AssumeOp> all;
    getOperation()->walk([&](AssumeOp assumption) { all.push_back(assumption); });
    for (AssumeOp assumption : all) {
      Value condition = assumption.getCondition();
      assumption.erase();
      eraseIfDead(condition);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createDropAssumptionsPass() {
  return std::make_unique<DropAssumptionsPass>();
}

} // namespace nereid::tile
