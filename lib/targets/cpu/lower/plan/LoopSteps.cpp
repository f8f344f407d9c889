// SPDX-License-Identifier: Apache-2.0
// The rules of LoopSteps: one that asks and one that emits, case by case alike.
#include "lib/targets/cpu/lower/plan/LoopSteps.h"

using namespace mlir;

namespace nereid::cpu {

bool LoopSteps::isInside(Value value) const {
  Operation *owner = value.getParentBlock()->getParentOp();
  return owner == loop.getOperation() || loop->isProperAncestor(owner);
}

Value LoopSteps::carriedStep(BlockArgument arg) const {
  if (!isTile(arg)) {
    return tile::addedPerRound(arg);
  }
  const tile::Induction *induction = kernel.axes.induction(arg);
  return induction ? induction->step : Value();
}

bool LoopSteps::isInvariant(Value value) const {
  if (!isInside(value)) {
    return true;
  }
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    unsigned number = arg.getArgNumber();
    return arg.getOwner() == loop.getBody() && number > 0 && !isTile(arg) &&
           loop.getYieldedValues()[number - 1] == arg;
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0 || isa<tile::LoadOp>(op) ||
      !isMemoryEffectFree(op)) {
    return false;
  }
  return llvm::all_of(op->getOperands(), [&](Value v) { return isInvariant(v); });
}

/// Keeps what its operand grows by.
static bool passesOn(Operation *op) {
  return isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::TransOp, arith::ExtSIOp,
             arith::IndexCastOp>(op) ||
         (isa<tile::ReshapeOp>(op) && isTrivialReshape(op));
}

bool LoopSteps::isSteady(Value value) const {
  if (isInvariant(value)) {
    return true;
  }
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (arg == loop.getInductionVar()) {
      return true;
    }
    Value step = arg.getOwner() == loop.getBody() ? carriedStep(arg) : Value();
    return step && isInvariant(step);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody()) {
    return false;
  }
  if (passesOn(op)) {
    return isSteady(op->getOperand(0));
  }
  if (isa<arith::AddIOp, arith::SubIOp, tile::AddPtrOp>(op)) {
    return isSteady(op->getOperand(0)) && isSteady(op->getOperand(1));
  }
  if (isa<arith::MulIOp>(op)) {
    for (unsigned i : {0u, 1u}) {
      Value factor = op->getOperand(1 - i);
      if (isInvariant(factor) && (!isTile(factor) || kernel.axes.isUniformEverywhere(factor)) &&
          isSteady(op->getOperand(i))) {
        return true;
      }
    }
  }
  return false;
}

static Value widened(OpBuilder &builder, Location loc, Value value) {
  if (isa<IndexType>(value.getType())) {
    return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), value);
  }
  return value.getType().isInteger(64)
             ? value
             : builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(), value);
}

Value LoopSteps::emit(Value value, Evaluator &evaluator, OpBuilder &builder) const {
  Location loc = loop.getLoc();
  auto atZero = [&](Value v) {
    return isTile(v) ? evaluator.evaluate(v, Dims(shapeOf(v).size(), zeroDim), 0)
                     : kernel.scalar(v);
  };
  if (isInvariant(value)) {
    return kernel.i64(0);
  }
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Value step = arg == loop.getInductionVar() ? loop.getStep() : carriedStep(arg);
    return widened(builder, loc, atZero(step));
  }
  Operation *op = value.getDefiningOp();
  if (passesOn(op)) {
    return emit(op->getOperand(0), evaluator, builder);
  }
  if (isa<arith::MulIOp>(op)) {
    unsigned growing = isInvariant(op->getOperand(0)) ? 1 : 0;
    Value factor = widened(builder, loc, atZero(op->getOperand(1 - growing)));
    return builder.createOrFold<arith::MulIOp>(
        loc, emit(op->getOperand(growing), evaluator, builder), factor);
  }
  Value a = emit(op->getOperand(0), evaluator, builder);
  Value b = emit(op->getOperand(1), evaluator, builder);
  if (isa<arith::SubIOp>(op)) {
    return builder.createOrFold<arith::SubIOp>(loc, a, b);
  }
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

} // namespace nereid::cpu
