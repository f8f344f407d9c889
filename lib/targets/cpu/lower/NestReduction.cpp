// SPDX-License-Identifier: Apache-2.0
// Reductions in a nest: the source's region is applied to whole vectors, several independent ones
// to hide latency, then across the lanes of one vector by halves.
#include "lib/targets/cpu/lower/LoopNest.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
  tile::ReduceOp reduce = op;
  Block &block = reduce.getCombine().front();
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

SmallVector<Value> Combiner::apply(Evaluator &evaluator, OpBuilder &builder, ArrayRef<Value> a,
                                   ArrayRef<Value> b) const {
  tile::ReduceOp reduce = op;
  Block &block = reduce.getCombine().front();
  llvm::DenseMap<Value, Value> inside;
  for (unsigned i = 0; i < count(); ++i) {
    inside[block.getArgument(i)] = a[i];
    inside[block.getArgument(count() + i)] = b[i];
  }
  auto vector = dyn_cast<VectorType>(a[0].getType());
  unsigned lanes = vector ? static_cast<unsigned>(vector.getNumElements()) : 1;
  auto find = [&](Value value) {
    auto it = inside.find(value);
    return it != inside.end() ? it->second : evaluator.kernel.scalar(value);
  };
  SmallVector<Value> results;
  for (Operation &step : block) {
    if (isa<tile::CombineReturnOp>(step)) {
      for (Value value : step.getOperands()) {
        results.push_back(find(value));
      }
      break;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(step)) {
      inside[constant.getResult()] = evaluator.kernel.constant(constant.getValue());
      continue;
    }
    if (!isElementwise(&step)) {
      evaluator.kernel.unsupported(&step, "a reduction combines with arithmetic only");
      return SmallVector<Value>(a.begin(), a.end());
    }
    SmallVector<Value> operands;
    for (Value operand : step.getOperands()) {
      Value value = find(operand);
      if (vector && value && !isa<VectorType>(value.getType())) {
        value = builder.create<vector::BroadcastOp>(
            step.getLoc(), VectorType::get(vector.getShape(), value.getType()), value);
      }
      operands.push_back(value);
    }
    inside[step.getResult(0)] = evaluator.applyElementwise(builder, &step, operands, lanes);
  }
  if (vector) {
    for (auto [value, like] : llvm::zip(results, a)) {
      if (!isa<VectorType>(value.getType())) {
        value = builder.create<vector::BroadcastOp>(op.getLoc(), like.getType(), value);
      }
    }
  }
  return results;
}

SmallVector<Value> Combiner::acrossLanes(Evaluator &evaluator, OpBuilder &builder,
                                         SmallVector<Value> lanes) const {
  auto type = dyn_cast<VectorType>(lanes[0].getType());
  Location loc = tile::ReduceOp(op).getLoc();
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

void LoopNest::startAccumulators(unsigned copies) {
  accumulators.clear();
  for (unsigned c = 0; c < copies; ++c) {
    for (Combiner &combiner : combiners) {
      for (TypedAttr neutral : combiner.identity()) {
        accumulators.push_back(
            evaluator.broadcast(outer(), kernel.constant(neutral), neutral.getType()));
      }
    }
  }
}

void LoopNest::accumulate(ArrayRef<SmallVector<Value>> values, unsigned copies) {
  if (seeding || accumulators.empty()) {
    accumulators.clear();
    for (const SmallVector<Value> &copy : values) {
      accumulators.append(copy.begin(), copy.end());
    }
    seeding = false;
    return;
  }
  for (unsigned c = 0; c < copies; ++c) {
    unsigned at = 0;
    for (Combiner &combiner : combiners) {
      unsigned n = combiner.count();
      ArrayRef<Value> running = ArrayRef<Value>(accumulators).slice(c * sources + at, n);
      ArrayRef<Value> next = ArrayRef<Value>(values[c]).slice(at, n);
      SmallVector<Value> result = combiner.apply(evaluator, outer(), running, next);
      std::copy(result.begin(), result.end(), accumulators.begin() + c * sources + at);
      at += n;
    }
  }
}

/// Combines the accumulators of the unrolled copies pairwise into one set.
void LoopNest::foldCopies() {
  unsigned copies = accumulators.size() / sources;
  for (; copies > 1; copies /= 2) {
    for (unsigned c = 0; c < copies / 2; ++c) {
      unsigned at = 0;
      for (Combiner &combiner : combiners) {
        unsigned n = combiner.count();
        ArrayRef<Value> all(accumulators);
        SmallVector<Value> result =
            combiner.apply(evaluator, outer(), all.slice(c * sources + at, n),
                           all.slice((c + copies / 2) * sources + at, n));
        std::copy(result.begin(), result.end(), accumulators.begin() + c * sources + at);
        at += n;
      }
    }
  }
  accumulators.resize(sources);
}

void LoopNest::foldLanes() {
  unsigned at = 0;
  for (Combiner &combiner : combiners) {
    unsigned n = combiner.count();
    SmallVector<Value> lanes(accumulators.begin() + at, accumulators.begin() + at + n);
    SmallVector<Value> result = combiner.acrossLanes(evaluator, outer(), lanes);
    std::copy(result.begin(), result.end(), accumulators.begin() + at);
    at += n;
  }
}

void LoopNest::finishReductions(unsigned copies) {
  for (unsigned c = 0; c < copies; ++c) {
    unsigned at = c * sources;
    for (Combiner &combiner : combiners) {
      for (Value result : combiner.op.getResults()) {
        Value value = accumulators[at++];
        if (!isTile(result)) {
          kernel.scalars[result] = value;
          continue;
        }
        Dims dims;
        for (int8_t d = 0; d < static_cast<int8_t>(shape.size()); ++d) {
          if (d != reduceAxis) {
            dims.push_back(shape[d] == 1 ? zeroDim : d);
          }
        }
        evaluator.storeToBuffer(results[result], value, dims, c, combiner.op.getLoc());
      }
    }
  }
}

} // namespace nereid::cpu
