// SPDX-License-Identifier: Apache-2.0
// Rewrites that need another operation: a splat stays a splat through every shape change, so that a
// target finds the scalar behind it, and masks known at compile time disappear.
#include "lib/tile/ir/Tile.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;

namespace nereid::tile {

/// shape_change(splat x) -> splat x.
template <class ShapeOp>
static LogicalResult sinkShapeIntoSplat(ShapeOp op, PatternRewriter &rewriter) {
  auto splat = op.getSource().template getDefiningOp<SplatOp>();
  if (!splat) {
    return failure();
  }
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getResult().getType(), splat.getSource());
  return success();
}

void ExpandDimsOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                               mlir::MLIRContext *context) {
  patterns.add(sinkShapeIntoSplat<ExpandDimsOp>);
}

void BroadcastOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                              mlir::MLIRContext *context) {
  patterns.add(sinkShapeIntoSplat<BroadcastOp>);
}

void ReshapeOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                            mlir::MLIRContext *context) {
  patterns.add(sinkShapeIntoSplat<ReshapeOp>);
}

void TransOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                          mlir::MLIRContext *context) {
  patterns.add(sinkShapeIntoSplat<TransOp>);
}

/// addptr(splat p, splat o) -> splat(addptr(p, o)): address arithmetic on one scalar.
static LogicalResult sinkAddPtrIntoSplat(AddPtrOp op, PatternRewriter &rewriter) {
  auto pointer = op.getPointer().getDefiningOp<SplatOp>();
  auto offset = op.getOffset().getDefiningOp<SplatOp>();
  if (!pointer || !offset) {
    return failure();
  }
  mlir::Value moved = rewriter.create<AddPtrOp>(op.getLoc(), pointer.getSource().getType(),
                                                pointer.getSource(), offset.getSource());
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getResult().getType(), moved);
  return success();
}

void AddPtrOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                           mlir::MLIRContext *context) {
  patterns.add(sinkAddPtrIntoSplat);
}

/// The value every element of a constant i1 scalar or tile has; nothing otherwise.
static std::optional<bool> knownMask(mlir::Value mask) {
  llvm::APInt value;
  if (!mask || !mlir::matchPattern(mask, mlir::m_ConstantInt(&value))) {
    return std::nullopt;
  }
  return !value.isZero();
}

static LogicalResult simplifyLoadMask(LoadOp op, PatternRewriter &rewriter) {
  std::optional<bool> mask = knownMask(op.getMask());
  if (!mask) {
    return failure();
  }
  if (*mask) {
    rewriter.modifyOpInPlace(op, [&] {
      op.getOtherMutable().clear();
      op.getMaskMutable().clear();
    });
    return success();
  }
  if (!op.getOther() || op.getIsVolatile()) {
    return failure();
  }
  rewriter.replaceOp(op, op.getOther());
  return success();
}

void LoadOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                         mlir::MLIRContext *context) {
  patterns.add(simplifyLoadMask);
}

static LogicalResult simplifyStoreMask(StoreOp op, PatternRewriter &rewriter) {
  std::optional<bool> mask = knownMask(op.getMask());
  if (!mask) {
    return failure();
  }
  if (*mask) {
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
  } else {
    rewriter.eraseOp(op);
  }
  return success();
}

void StoreOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                          mlir::MLIRContext *context) {
  patterns.add(simplifyStoreMask);
}

static LogicalResult dropTrueAssert(AssertOp op, PatternRewriter &rewriter) {
  std::optional<bool> condition = knownMask(op.getCondition());
  if (!condition || !*condition) {
    return failure();
  }
  rewriter.eraseOp(op);
  return success();
}

void AssertOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                           mlir::MLIRContext *context) {
  patterns.add(dropTrueAssert);
}

} // namespace nereid::tile
