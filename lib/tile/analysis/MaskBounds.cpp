// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/analysis/MaskBounds.h"

#include "lib/tile/ir/Tile.h"

namespace nereid::tile {

std::optional<MaskBound> boundOf(mlir::Value term,
                                 llvm::function_ref<std::optional<int64_t>(mlir::Value)> stepOf) {
  using Predicate = mlir::arith::CmpIPredicate;
  auto compare = term.getDefiningOp<mlir::arith::CmpIOp>();
  if (!compare || mlir::isa<mlir::IndexType>(elementTypeOf(compare.getLhs().getType()))) {
    return std::nullopt;
  }
  const Predicate predicate = compare.getPredicate();
  const bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
  const bool isGreater = predicate == Predicate::sgt || predicate == Predicate::sge;
  if (!isLess && !isGreater) {
    return std::nullopt;
  }
  MaskBound bound{compare.getLhs(), compare.getRhs(), 1, isGreater};
  if (stepOf(bound.linear) == 0) {
    std::swap(bound.linear, bound.limit);
    bound.isLower = isLess;
  }
  const bool holdsWhenEqual = predicate == Predicate::sle || predicate == Predicate::sge;
  bound.inclusive = holdsWhenEqual != bound.isLower;
  const std::optional<int64_t> stride = stepOf(bound.linear);
  if (!stride || *stride < 1 || stepOf(bound.limit) != 0) {
    return std::nullopt;
  }
  bound.stride = *stride;
  return bound;
}

void visitMaskTerms(mlir::Value mask, const Dims &dims,
                    llvm::function_ref<bool(mlir::Value)> isOpaque,
                    llvm::function_ref<void(mlir::Value, const Dims &)> visit) {
  llvm::SmallVector<std::pair<mlir::Value, Dims>> work{{mask, dims}};
  while (!work.empty()) {
    auto [value, at] = work.pop_back_val();
    mlir::Operation *op = value.getDefiningOp();
    const bool isShape = mlir::isa_and_nonnull<ExpandDimsOp, BroadcastOp, TransOp>(op) ||
                         (mlir::isa_and_nonnull<ReshapeOp>(op) && isTrivialReshape(op));
    if (!op || isOpaque(value) || !(isShape || mlir::isa<mlir::arith::AndIOp>(op))) {
      visit(value, at);
      continue;
    }
    for (mlir::Value operand : llvm::reverse(op->getOperands())) {
      work.push_back({operand, mapDims(op, operand, at)});
    }
  }
}

} // namespace nereid::tile
