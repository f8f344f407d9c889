// SPDX-License-Identifier: Apache-2.0
// choose-forms: a function's short form where all that becomes of it is rounded to 16 bits.
//
// Why: a function of the library does not see what its result is for; it offers both forms.
// Requires: nothing. Guarantees: no operation has the attribute any more, and what nothing reads in
// a module that had some is gone.
// Example: `%y = arith.select %c, %exact, %short {lowering.for_halves}` that `arith.truncf %y : f32
// to f16` alone takes becomes `%short`, else `%exact`.
#include "lib/lowering/OnlyForHalves.h"
#include "lib/lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace nereid::lowering {
namespace {

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
    for (arith::SelectOp op : found) {
      op.getResult().replaceAllUsesWith(isOnlyForHalves(op) ? op.getFalseValue()
                                                            : op.getTrueValue());
    }
    if (!found.empty()) { // the choices, and what the other form needs alone
      IRRewriter rewriter(&getContext());
      (void)runRegionDCE(rewriter, getOperation()->getRegions());
    }
  }
};

} // namespace

std::unique_ptr<Pass> createChooseFormsPass() { return std::make_unique<ChooseFormsPass>(); }

} // namespace nereid::lowering
