// SPDX-License-Identifier: Apache-2.0
// choose-forms: a function's short form where all that becomes of it is rounded to 16 bits.
//
// Why: a function of the library does not see what its result is for; it offers both forms.
// Requires: nothing. Guarantees: no operation has the attribute any more, and what the form that is
// not taken needs alone is gone.
// Example: `%y = arith.select %c, %exact, %short {lowering.for_halves}` that `arith.truncf %y : f32
// to f16` alone takes becomes `%short`, else `%exact`.
#include "lib/lowering/OnlyForHalves.h"
#include "lib/lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::lowering {
namespace {

/// The operations that nothing reads any more, these ones and what they alone read.
void eraseUnused(llvm::SmallSetVector<Operation *, 16> maybe) {
  while (!maybe.empty()) {
    Operation *op = maybe.pop_back_val();
    if (!isOpTriviallyDead(op)) {
      continue;
    }
    for (Value operand : op->getOperands()) {
      if (Operation *by = operand.getDefiningOp()) {
        maybe.insert(by);
      }
    }
    op->erase();
  }
}

class ChooseFormsPass : public PassWrapper<ChooseFormsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChooseFormsPass)

  StringRef getArgument() const override { return "choose-forms"; }
  StringRef getDescription() const override {
    return "take a function's short form where its result is only rounded to 16 bits";
  }

  void runOnOperation() override {
    SmallVector<arith::SelectOp> found;
    getOperation()->walk([&](arith::SelectOp op) {
      if (op->hasAttr(forHalvesAttribute)) {
        found.push_back(op);
      }
    });
    llvm::SmallSetVector<Operation *, 16> maybe;
    for (arith::SelectOp op : found) {
      op.getResult().replaceAllUsesWith(isOnlyForHalves(op) ? op.getFalseValue()
                                                            : op.getTrueValue());
      maybe.insert(op);
    }
    eraseUnused(std::move(maybe));
  }
};

} // namespace

std::unique_ptr<Pass> createChooseFormsPass() { return std::make_unique<ChooseFormsPass>(); }

} // namespace nereid::lowering
