// SPDX-License-Identifier: Apache-2.0
// nvidia-accumulate-products: add a product to what it is added to while it is made.
//
// Why: matrix instructions add to their result for nothing, and a loop's sum that is only added to
// need not be waited for.
// Requires: one function, without layouts.
// Guarantees: no sum of a product that begins at zero and has no other user.
// Example: `%p = tile.dot %a, %b, %zeros ; %s = arith.addf %acc, %p` becomes
// `%s = tile.dot %a, %b, %acc`.
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/pipeline/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

template <class Sum> struct AccumulateProduct : OpRewritePattern<Sum> {
  using OpRewritePattern<Sum>::OpRewritePattern;

  LogicalResult matchAndRewrite(Sum sum, PatternRewriter &rewriter) const override {
    for (unsigned i : {0U, 1U}) {
      auto dot = sum->getOperand(i).template getDefiningOp<tile::DotOp>();
      if (dot && dot->hasOneUse() && dot->getBlock() == sum->getBlock() && isZeros(dot.getC())) {
        // At the sum's place, where both operands are.
        auto made = cast<tile::DotOp>(rewriter.clone(*dot));
        made.getCMutable().assign(sum->getOperand(1 - i));
        rewriter.replaceOp(sum, made);
        return success();
      }
    }
    return failure();
  }
};

class AccumulateProductsPass
    : public PassWrapper<AccumulateProductsPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AccumulateProductsPass)

  StringRef getArgument() const override { return "nvidia-accumulate-products"; }
  StringRef getDescription() const override {
    return "add a product to what it is added to while it is made";
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AccumulateProduct<arith::AddFOp>, AccumulateProduct<arith::AddIOp>>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns)))) {
      signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createAccumulateProductsPass() {
  return std::make_unique<AccumulateProductsPass>();
}

} // namespace nereid::nvidia
