// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/analysis/Reductions.h"

#include "lib/tile/ir/Tile.h"

using namespace mlir;

namespace nereid::tile {

/// Neutral element of `op` for type, when it is an operation that has one.
static TypedAttr neutralElement(Operation *op, Type type) {
  Builder builder(op->getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    auto make = [&](APFloat value) { return builder.getFloatAttr(type, value); };
    if (isa<arith::AddFOp>(op)) {
      return make(APFloat::getZero(semantics, /*Negative=*/true)); // -0 + x is x, even for -0
    }
    if (isa<arith::MulFOp>(op)) {
      return make(APFloat::getOne(semantics));
    }
    if (isa<arith::MaximumFOp>(op)) {
      return make(APFloat::getInf(semantics, true));
    }
    if (isa<arith::MinimumFOp>(op)) {
      return make(APFloat::getInf(semantics, false));
    }
    if (isa<arith::MaxNumFOp, arith::MinNumFOp, MaxNumOp, MinNumOp>(op)) {
      return make(APFloat::getNaN(semantics)); // the other operand wins against NaN
    }
    return nullptr;
  }
  auto intType = dyn_cast<IntegerType>(type);
  if (!intType) {
    return nullptr;
  }
  unsigned bits = intType.getWidth();
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(op)) {
    return builder.getIntegerAttr(type, APInt::getZero(bits));
  }
  if (isa<arith::AndIOp, arith::MinUIOp>(op)) {
    return builder.getIntegerAttr(type, APInt::getAllOnes(bits));
  }
  if (isa<arith::MulIOp>(op)) {
    return builder.getIntegerAttr(type, APInt(bits, 1));
  }
  if (isa<arith::MaxSIOp>(op)) {
    return builder.getIntegerAttr(type, APInt::getSignedMinValue(bits));
  }
  if (isa<arith::MinSIOp>(op)) {
    return builder.getIntegerAttr(type, APInt::getSignedMaxValue(bits));
  }
  return nullptr;
}

SmallVector<TypedAttr> neutralElementsOf(Operation *reduction) {
  Block &block = reduction->getRegion(0).front();
  unsigned n = reduction->getNumOperands();
  Operation *terminator = block.getTerminator();
  SmallVector<TypedAttr> result;
  for (unsigned i = 0; i < n; ++i) {
    Operation *step = terminator->getOperand(i).getDefiningOp();
    if (!step || step->getBlock() != &block || step->getNumOperands() != 2) {
      return {};
    }
    Value a = step->getOperand(0), b = step->getOperand(1);
    Value first = block.getArgument(i), second = block.getArgument(n + i);
    TypedAttr neutral = neutralElement(step, first.getType());
    if (!neutral || !((a == first && b == second) || (a == second && b == first))) {
      return {};
    }
    result.push_back(neutral);
  }
  return result;
}

bool isIdempotent(Operation *reduction) {
  Block &block = reduction->getRegion(0).front();
  return !neutralElementsOf(reduction).empty() &&
         llvm::all_of(block.getTerminator()->getOperands(), [](Value result) {
           return isa<arith::MaxNumFOp, arith::MinNumFOp, MaxNumOp, MinNumOp, arith::MaximumFOp,
                      arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
                      arith::MinUIOp, arith::AndIOp, arith::OrIOp>(result.getDefiningOp());
         });
}

} // namespace nereid::tile
