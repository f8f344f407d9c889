// SPDX-License-Identifier: Apache-2.0
// `tile-simplify`: folding and dead-code removal with a short list of patterns.
// Why: the general canonicaliser collects the patterns of every loaded dialect and iterates until
// nothing changes, which costs more than the rest of compiling a small kernel.
// Requires: tile IR. Guarantees: the same meaning, constants folded, one form of splats and masks.
#include "lib/tile/transforms/Passes.h"
#include "lib/tile/transforms/SumsThatPick.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nereid::tile {
namespace {

template <class... Ops>
void addCanonicalizations(mlir::RewritePatternSet &patterns, mlir::MLIRContext *context) {
  (Ops::getCanonicalizationPatterns(patterns, context), ...);
}

/// `for r in range(KH)` with KH = 1: what reads the loop's result sees what computes it.
struct InlineSingleIteration : mlir::OpRewritePattern<mlir::scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(mlir::scf::ForOp loop,
                                      mlir::PatternRewriter &rewriter) const final {
    return loop.promoteIfSingleIteration(rewriter);
  }
};

/// In front of all folding: MLIR's fold of the operations replaced is wrong beside a NaN.
void useOwnExtrema(mlir::Operation *root) {
  root->walk([](mlir::Operation *op) {
    mlir::OpBuilder builder(op);
    mlir::Operation *own = nullptr;
    if (auto max = mlir::dyn_cast<mlir::arith::MaxNumFOp>(op)) {
      own = builder.create<MaxNumOp>(op->getLoc(), max.getLhs(), max.getRhs());
    } else if (auto min = mlir::dyn_cast<mlir::arith::MinNumFOp>(op)) {
      own = builder.create<MinNumOp>(op->getLoc(), min.getLhs(), min.getRhs());
    }
    if (own) {
      op->replaceAllUsesWith(own);
      op->erase();
    }
  });
}

struct SimplifyPass : mlir::PassWrapper<SimplifyPass, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimplifyPass)

  llvm::StringRef getArgument() const final { return "tile-simplify"; }
  llvm::StringRef getDescription() const final { return "fold and drop dead tile operations"; }

  mlir::LogicalResult initialize(mlir::MLIRContext *context) final {
    mlir::RewritePatternSet patterns(context);
    addCanonicalizations<ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp, AddPtrOp, LoadOp, StoreOp,
                         AssertOp>(patterns, context);
    addCanonicalizations<mlir::scf::IfOp, mlir::scf::WhileOp, mlir::arith::SelectOp,
                         mlir::arith::CmpIOp>(patterns, context);
    patterns.add<InlineSingleIteration>(context);
    addSumsThatPick(patterns);
    frozen = mlir::FrozenRewritePatternSet(std::move(patterns));
    return mlir::success();
  }

  void runOnOperation() final {
    useOwnExtrema(getOperation());
    mlir::GreedyRewriteConfig config;
    config.useTopDownTraversal = true;
    config.enableRegionSimplification = mlir::GreedySimplifyRegionLevel::Disabled;
    // Not converging is no error: what is left is correct, only less simple.
    (void)mlir::applyPatternsAndFoldGreedily(getOperation(), frozen, config);
  }

  mlir::FrozenRewritePatternSet frozen;
};

} // namespace

std::unique_ptr<mlir::Pass> createSimplifyPass() { return std::make_unique<SimplifyPass>(); }

} // namespace nereid::tile
