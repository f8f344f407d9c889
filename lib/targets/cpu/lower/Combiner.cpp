// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/Combiner.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::cpu {

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
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) {
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

SmallVector<TypedAttr> Combiner::identity() const {
  Block &block = op->getRegion(0).front();
  unsigned n = count();
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

bool Combiner::isIdempotent() const {
  Block &block = op->getRegion(0).front();
  return !identity().empty() &&
         llvm::all_of(block.getTerminator()->getOperands(), [](Value result) {
           return isa<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp,
                      arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp,
                      arith::OrIOp>(result.getDefiningOp());
         });
}

bool Combiner::isElementwise() const {
  return llvm::all_of(op->getRegion(0).front().without_terminator(), [](Operation &step) {
    return cpu::isElementwise(&step) || isa<arith::ConstantOp>(step);
  });
}

/// An operation with regions of its own, on scalars.
static void cloneWithRegions(KernelState &kernel, OpBuilder &builder, Operation &step,
                             llvm::DenseMap<Value, Value> &inside) {
  IRMapping mapping;
  for (auto [from, to] : inside) {
    mapping.map(from, to);
  }
  step.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *owner = operand.getParentBlock()->getParentOp();
      if (!mapping.contains(operand) && !step.isAncestor(owner)) {
        mapping.map(operand, kernel.scalar(operand));
      }
    }
  });
  Operation *clone = builder.clone(step, mapping);
  for (auto [from, to] : llvm::zip(step.getResults(), clone->getResults())) {
    inside[from] = to;
  }
}

/// Scalars and arithmetic can be copied as they are; nothing of the tile dialect can.
static Operation *findForeign(Operation &step) {
  Operation *foreign = nullptr;
  step.walk([&](Operation *inner) {
    StringRef dialect = inner->getName().getDialectNamespace();
    if (dialect != "arith" && dialect != "math" && dialect != "scf") {
      foreign = inner;
    }
  });
  return foreign;
}

SmallVector<Value> Combiner::apply(Evaluator &evaluator, OpBuilder &builder, ArrayRef<Value> a,
                                   ArrayRef<Value> b) const {
  Block &block = op->getRegion(0).front();
  llvm::DenseMap<Value, Value> inside;
  for (unsigned i = 0; i < count(); ++i) {
    inside[block.getArgument(i)] = a[i];
    inside[block.getArgument(count() + i)] = b[i];
  }
  auto vector = dyn_cast<VectorType>(a[0].getType());
  unsigned lanes = vector ? static_cast<unsigned>(vector.getNumElements()) : 1;
  auto inLanes = [&](Value value) -> Value {
    if (!vector || isa<VectorType>(value.getType())) {
      return value;
    }
    auto type = VectorType::get(vector.getShape(), value.getType());
    return builder.create<vector::BroadcastOp>(op->getLoc(), type, value);
  };
  auto find = [&](Value value) {
    auto it = inside.find(value);
    return it != inside.end() ? it->second : evaluator.kernel.scalar(value);
  };
  for (Operation &step : block.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(step)) {
      inside[constant.getResult()] = evaluator.kernel.constant(constant.getValue());
      continue;
    }
    Operation *foreign = findForeign(step);
    if (foreign || (vector && !cpu::isElementwise(&step))) {
      if (!evaluator.kernel.failed) {
        evaluator.kernel.unsupported(foreign ? foreign : &step,
                                     "elements are combined with arithmetic only");
      }
      return SmallVector<Value>(a.begin(), a.end());
    }
    if (!cpu::isElementwise(&step)) {
      cloneWithRegions(evaluator.kernel, builder, step, inside);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : step.getOperands()) {
      operands.push_back(inLanes(find(operand)));
    }
    ResultRange results = evaluator.applyElementwise(builder, &step, operands, lanes);
    for (auto [from, to] : llvm::zip(step.getResults(), results)) {
      inside[from] = to;
    }
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands()) {
    results.push_back(inLanes(find(value)));
  }
  return results;
}

SmallVector<Value> Combiner::acrossLanes(Evaluator &evaluator, OpBuilder &builder,
                                         SmallVector<Value> lanes) const {
  auto type = dyn_cast<VectorType>(lanes[0].getType());
  Location loc = op->getLoc();
  for (int64_t width = type ? type.getNumElements() : 1; width > 1; width /= 2) {
    SmallVector<Value> low, high;
    for (Value value : lanes) {
      if (width == 2) {
        low.push_back(builder.create<vector::ExtractOp>(loc, value, int64_t(0)));
        high.push_back(builder.create<vector::ExtractOp>(loc, value, int64_t(1)));
        continue;
      }
      SmallVector<int64_t> first, second;
      for (int64_t i = 0; i < width / 2; ++i) {
        first.push_back(i);
        second.push_back(width / 2 + i);
      }
      low.push_back(builder.create<vector::ShuffleOp>(loc, value, value, first));
      high.push_back(builder.create<vector::ShuffleOp>(loc, value, value, second));
    }
    lanes = apply(evaluator, builder, low, high);
  }
  return lanes;
}

} // namespace nereid::cpu
