// SPDX-License-Identifier: Apache-2.0
// Masks of lanes. A mask such as `offsets < n` along the lane dimension is an interval; the nests
// split their loop at its ends, so that it is all true in the main part and all false in the last.
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/plan/LanePlan.h"
#include "lib/targets/cpu/lower/plan/NarrowIntegers.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

Value Evaluator::boundsMask(OpBuilder &builder, const MaskBounds &bounds, unsigned copy,
                            Location loc) {
  Value base = laneBase[copy];
  Value result;
  auto require = [&](Value condition) {
    result = result ? builder.create<arith::AndIOp>(loc, result, condition) : condition;
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value limit) {
    if (width == 1) {
      require(builder.create<arith::CmpIOp>(loc, predicate, base, limit));
      return;
    }
    Type i32 = builder.getI32Type();
    Value left = builder.create<arith::SubIOp>(loc, limit, base);
    left = builder.create<arith::TruncIOp>(loc, i32, left);
    require(builder.create<arith::CmpIOp>(loc, predicate, iota(kernel, i32, width, 1),
                                          broadcast(builder, left, i32)));
  };
  if (bounds.lower) {
    compare(arith::CmpIPredicate::sge, bounds.lower);
  }
  if (bounds.upper) {
    compare(arith::CmpIPredicate::slt, bounds.upper);
  }
  return result;
}

LaneMask Evaluator::evaluateMask(Value mask, const Dims &coordinates, unsigned copy) {
  Dims dims = kernel.axes.normalise(mask, coordinates);
  auto it = lanePosition(dims) >= 0 && part != PeeledPart::Plain ? masks.find(keyOf(mask, dims))
                                                                 : masks.end();
  if (it == masks.end()) {
    Value value = evaluate(mask, dims, copy);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
      if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
        return {integer.getValue().isZero() ? LaneMask::Kind::None : LaneMask::Kind::All, nullptr};
      }
    }
    return {isa<VectorType>(value.getType()) ? LaneMask::Kind::Vector : LaneMask::Kind::Scalar,
            value};
  }
  if (part == PeeledPart::Outside && it->second.upper) {
    return {LaneMask::Kind::None, nullptr};
  }
  Scope *scope = scopes[levelOf(dims)];
  ElementKey key = keyOf(mask, dims, copy);
  Value result = scope->find(key);
  if (!result) {
    MaskBounds bounds = it->second; // evaluating the rest may look up other masks
    OpBuilder &builder = scope->builder;
    if (part != PeeledPart::Main) {
      result = boundsMask(builder, bounds, copy, mask.getLoc());
    }
    for (auto &[term, at] : bounds.rest) {
      Value value = evaluate(term, at, copy);
      if (result && isa<VectorType>(value.getType()) != isa<VectorType>(result.getType())) {
        value = broadcast(builder, value, value.getType());
        result = broadcast(builder, result, result.getType());
      }
      result = result ? builder.create<arith::AndIOp>(mask.getLoc(), result, value) : value;
    }
    if (!result) {
      return {LaneMask::Kind::All, nullptr};
    }
    scope->values[key] = result;
  }
  return {isa<VectorType>(result.getType()) ? LaneMask::Kind::Vector : LaneMask::Kind::Scalar,
          result};
}

Value Evaluator::conditionOfLanes(Value mask, const Dims &dims) const {
  auto it = part == PeeledPart::Boundary
                ? masks.find(keyOf(mask, kernel.axes.normalise(mask, dims)))
                : masks.end();
  return it == masks.end() ? Value() : it->second.holds;
}

bool Evaluator::masksLastLanes(Value mask, const Dims &dims) const {
  auto it = part == PeeledPart::Boundary
                ? masks.find(keyOf(mask, kernel.axes.normalise(mask, dims)))
                : masks.end();
  return it != masks.end() && !it->second.lower &&
         llvm::all_of(it->second.rest,
                      [&](const auto &term) { return lanePosition(term.second) < 0; });
}

namespace {
/// Emits the bounds of masks in front of the lane loop.
struct BoundsBuilder {
  Evaluator &evaluator;
  OpBuilder &builder;
  int64_t size; ///< of the lane dimension
  int laneLevel;

  KernelState &kernel() { return evaluator.kernel; }

  bool isBefore(Value tile, const Dims &dims) {
    Dims own = kernel().axes.normalise(tile, dims);
    return evaluator.lanePosition(own) < 0 && evaluator.levelOf(own) < laneLevel;
  }

  Value clamp(Location loc, Value value, int64_t low, int64_t high) {
    value = builder.create<arith::MaxSIOp>(loc, value, kernel().i64(low));
    return builder.create<arith::MinSIOp>(loc, value, kernel().i64(high));
  }

  /// Makes the term a bound of the lanes; false when it is none.
  bool addTerm(Value term, const Dims &dims, MaskBounds &bounds) {
    const int lane = evaluator.lanePosition(dims);
    if (kernel().plan.isStored(term) || lane < 0) {
      return false;
    }
    const std::optional<tile::MaskBound> bound = kernel().axes.bound(term, lane);
    Dims first(dims);
    first[lane] = zeroDim;
    if (!bound || bound->stride != 1 || !isBefore(bound->limit, dims) ||
        !isBefore(bound->linear, first)) {
      return false;
    }
    Location loc = term.getLoc();
    Value limit = evaluator.evaluate(bound->limit, dims, 0);
    Value end = distanceTo(builder, loc, limit, evaluator.evaluate(bound->linear, first, 0));
    if (bound->inclusive) {
      end = builder.create<arith::AddIOp>(loc, clamp(loc, end, -1, size - 1), kernel().i64(1));
    } else {
      end = clamp(loc, end, 0, size);
    }
    if (bound->isLower) {
      bounds.lower = bounds.lower ? builder.create<arith::MaxSIOp>(loc, bounds.lower, end) : end;
    } else {
      bounds.upper = bounds.upper ? builder.create<arith::MinSIOp>(loc, bounds.upper, end) : end;
    }
    return true;
  }

  MaskBounds build(Value mask, const Dims &coordinates) {
    MaskBounds bounds;
    SmallVector<std::pair<Value, Dims>> uniform;
    kernel().plan.visitMaskTerms(mask, coordinates, [&](Value term, const Dims &at) {
      Dims dims = kernel().axes.normalise(term, at);
      if (isBefore(term, dims)) {
        uniform.push_back({term, dims});
        return;
      }
      if (!addTerm(term, dims, bounds)) {
        bounds.rest.push_back({term, dims});
      }
    });
    for (auto &[term, dims] : uniform) {
      if (!bounds.upper && !bounds.lower) {
        bounds.rest.push_back({term, dims}); // nothing to gain from splitting the loop
        continue;
      }
      Value holds = evaluator.evaluate(term, dims, 0);
      Value upper = bounds.upper ? bounds.upper : kernel().i64(size);
      bounds.upper = builder.create<arith::SelectOp>(mask.getLoc(), holds, upper, kernel().i64(0));
      bounds.holds =
          bounds.holds ? builder.create<arith::AndIOp>(mask.getLoc(), bounds.holds, holds) : holds;
    }
    return bounds;
  }
};
} // namespace

LoopBounds emitLoopBounds(Evaluator &evaluator, const LanePlan &plan, int64_t size) {
  OpBuilder &builder = evaluator.scopes.back()->builder;
  KernelState &kernel = evaluator.kernel;
  BoundsBuilder bounds{evaluator, builder, size, static_cast<int>(evaluator.scopes.size())};
  LoopBounds result;
  Value mainEnd, outsideStart;
  bool someUnbounded = false;
  auto limit = [&](Location loc, Value end) {
    mainEnd = mainEnd ? builder.create<arith::MinSIOp>(loc, mainEnd, end) : end;
  };
  for (auto &[mask, dims] : plan.masks) {
    Dims own = kernel.axes.normalise(mask, dims);
    MaskBounds found = bounds.build(mask, own);
    if (!tally(Recogniser::MaskBounds, found.upper || found.lower)) {
      continue;
    }
    Location loc = mask.getLoc();
    evaluator.masks[Evaluator::keyOf(mask, own)] = found;
    if (found.lower) {
      Value all =
          builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, found.lower, kernel.i64(0));
      limit(loc, builder.create<arith::SelectOp>(loc, all, kernel.i64(size), kernel.i64(0)));
    }
    if (found.upper) {
      limit(loc, found.upper);
      outsideStart = outsideStart ? builder.create<arith::MaxSIOp>(loc, outsideStart, found.upper)
                                  : found.upper;
    } else {
      someUnbounded = true;
    }
  }
  if (plan.hasUnknownPremise) {
    limit(builder.getUnknownLoc(), kernel.i64(0));
  }
  for (auto &[value, dims] : plan.remainders) {
    // value = x % u or x / u with x growing by one: no wrap before the next multiple of u.
    Operation *op = value.getDefiningOp();
    Location loc = op->getLoc();
    Dims first(dims);
    first[evaluator.lanePosition(dims)] = zeroDim;
    if (!bounds.isBefore(op->getOperand(0), first) || !bounds.isBefore(op->getOperand(1), dims) ||
        mayWrap(op->getOperand(0))) {
      limit(loc, kernel.i64(0));
      continue;
    }
    Type i64 = builder.getI64Type();
    Value x = evaluator.evaluate(op->getOperand(0), first, 0);
    Value u = evaluator.evaluate(op->getOperand(1), dims, 0);
    if (!x.getType().isInteger(64)) {
      x = builder.create<arith::ExtSIOp>(loc, i64, x);
      u = builder.create<arith::ExtSIOp>(loc, i64, u);
    }
    Value zero = kernel.i64(0);
    Value usable = builder.create<arith::AndIOp>(
        loc, builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, x, zero),
        builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, u, zero));
    Value divisor = builder.create<arith::SelectOp>(loc, usable, u, kernel.i64(1));
    Value left =
        builder.create<arith::SubIOp>(loc, u, builder.create<arith::RemSIOp>(loc, x, divisor));
    limit(loc, builder.create<arith::SelectOp>(loc, usable, left, zero));
  }
  for (auto &[pointer, dims] : plan.runtimeStrides) {
    Location loc = pointer.getLoc();
    int lane = evaluator.lanePosition(dims);
    Dims first(dims);
    first[lane] = zeroDim;
    if (!bounds.isBefore(pointer, first)) {
      limit(loc, kernel.i64(0));
      continue;
    }
    Value stride = evaluator.strideOf(pointer, lane, dims);
    Value unit =
        builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, stride, kernel.i64(1));
    limit(loc, builder.create<arith::SelectOp>(loc, unit, kernel.i64(size), kernel.i64(0)));
  }
  result.mainEnd = mainEnd;
  result.outsideStart = someUnbounded ? Value() : outsideStart;
  return result;
}

} // namespace nereid::cpu
