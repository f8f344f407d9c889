// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/nest/Combiner.h"

#include "lib/tile/analysis/Reductions.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::cpu {

SmallVector<TypedAttr> Combiner::identity() const { return tile::neutralElementsOf(op); }

bool Combiner::isIdempotent() const { return tile::isIdempotent(op); }

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
