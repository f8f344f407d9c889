// SPDX-License-Identifier: Apache-2.0
// The peeled part of the lane loop behind the end of every mask (PeeledPart::Outside). What is
// loaded there is the load's `other`, so that most values are the same in each of its vectors.
#include "lib/targets/cpu/lower/nest/LoopNest.h"

#include "lib/targets/cpu/lower/Recognisers.h"

using namespace mlir;

namespace nereid::cpu {

/// Nothing is stored behind the end of the mask.
bool LoopNest::endsWithMask(const FusionRoot &root) const {
  auto store =
      root.kind == FusionRoot::Kind::Store ? cast<tile::StoreOp>(root.op) : tile::StoreOp();
  if (!store || !store.getMask()) {
    return false;
  }
  Dims dims = kernel.axes.normalise(store.getMask(), identityDims(shape.size()));
  auto it = evaluator.masks.find(Evaluator::keyOf(store.getMask(), dims));
  return it != evaluator.masks.end() && it->second.upper;
}

/// Combining with the constant a second time changes nothing: a minimum, a maximum, a sum of zeros.
static bool combinesOnce(const Combiner &combiner, Value constant) {
  bool isZero = matchPattern(constant, m_AnyZeroFloat()) || matchPattern(constant, m_Zero());
  bool isSum = combiner.count() == 1 && !combiner.identity().empty() &&
               isa<arith::AddFOp, arith::AddIOp>(combiner.op->getRegion(0).front().front());
  return combiner.isIdempotent() || (isZero && isSum);
}

using Constants = llvm::DenseMap<Value, TypedAttr>;

/// Null for what is no constant.
static TypedAttr constantOf(Value value, const Constants &computed) {
  Attribute known;
  return matchPattern(value, m_Constant(&known)) ? dyn_cast<TypedAttr>(known)
                                                 : computed.lookup(value);
}

/// What in the block is computed from constants alone.
static Constants constantsIn(Block &block) {
  Constants constants;
  for (Operation &op : block) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands()) {
      operands.push_back(constantOf(operand, constants));
    }
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) { // MLIR's fold is wrong beside a NaN
      Attribute chosen =
          tile::foldNumericExtremum(isa<arith::MaxNumFOp>(op), operands[0], operands[1]);
      if (auto constant = dyn_cast_or_null<TypedAttr>(chosen)) {
        constants[op.getResult(0)] = constant;
      }
      continue;
    }
    SmallVector<OpFoldResult> results;
    if (op.getNumRegions() != 0 || op.getNumResults() != 1 || operands.empty() ||
        llvm::is_contained(operands, Attribute()) || failed(op.fold(operands, results)) ||
        results.size() != 1) {
      continue;
    }
    if (auto constant = dyn_cast_or_null<TypedAttr>(results[0].dyn_cast<Attribute>())) {
      constants[op.getResult(0)] = constant;
    }
  }
  return constants;
}

/// Behind the end of the masks such a constant is combined once, not in a loop; false where there
/// is more to do.
bool LoopNest::reduceOutsideOnce(Value start, Value end) {
  if (!llvm::all_of(roots, [&](const FusionRoot &root) {
        return root.kind == FusionRoot::Kind::Reduce || endsWithMask(root);
      })) {
    return false;
  }
  evaluator.part = PeeledPart::Outside;
  evaluator.laneBase.assign(1, start);
  Block aside; // what is not a constant stays behind here
  OpBuilder builder(outer().getContext());
  builder.setInsertionPointToEnd(&aside);
  Scope inner(builder);
  evaluator.scopes.push_back(&inner);
  SmallVector<std::pair<const Combiner *, Value>> sources;
  for (const Combiner &combiner : reductions.combiners) {
    for (Value source : combiner.op->getOperands()) {
      sources.push_back({&combiner, evaluator.evaluate(source, identityDims(shape.size()), 0)});
    }
  }
  evaluator.scopes.pop_back();
  Constants computed = constantsIn(aside);
  SmallVector<Value> constants;
  for (auto [combiner, value] : sources) {
    TypedAttr constant = constantOf(value, computed);
    if (!constant || !combinesOnce(*combiner, kernel.constant(constant))) {
      return false;
    }
    constants.push_back(kernel.constant(constant));
  }
  Value isAny = outer().create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, start, end);
  SmallVector<Value> before(reductions.accumulators.begin(), reductions.accumulators.end());
  for (Value &constant : constants) {
    constant = evaluator.broadcast(outer(), constant, constant.getType());
  }
  reductions.accumulate(evaluator, {constants}, 1);
  for (auto [value, old] : llvm::zip(reductions.accumulators, before)) {
    value = outer().create<arith::SelectOp>(loc, isAny, value, old);
  }
  return true;
}

/// Evaluates the values of the loop that are the same in each of its steps, for `scope` to hold.
void LoopNest::evaluateAhead(Scope &scope, Value start) {
  auto position = scope.builder.create<arith::AddIOp>(loc, start, kernel.i64(0));
  evaluator.part = PeeledPart::Outside;
  evaluator.laneBase.assign(1, position);
  auto evaluate = [&](Value value) {
    Block aside; // what depends on the position stays behind here
    OpBuilder builder(loc.getContext());
    builder.setInsertionPointToEnd(&aside);
    Scope inner(builder, &scope);
    evaluator.scopes.push_back(&inner);
    evaluator.evaluate(value, identityDims(shape.size()), 0);
    evaluator.scopes.pop_back();
    if (position->use_empty()) {
      position->getBlock()->getOperations().splice(scope.builder.getInsertionPoint(),
                                                   aside.getOperations());
      scope.values.insert(inner.values.begin(), inner.values.end());
    }
  };
  for (const FusionRoot &root : roots) {
    if (root.kind == FusionRoot::Kind::Reduce) {
      llvm::for_each(cast<tile::ReduceOp>(root.op).getSources(), evaluate);
    } else if (root.kind == FusionRoot::Kind::Materialise && !isPointerTile(root.value)) {
      evaluate(root.value);
    }
  }
  position->erase();
}

/// Where a value takes long to compute, it must not be computed in front of a loop that has nothing
/// to do, nor in each of its steps.
void LoopNest::emitOutside(unsigned depth, Value start, Value end) {
  constexpr int longCost = 16;
  bool isInnermost = depth + 1 == order.size() && !insideRows.rowsInLanes;
  if (isInnermost && reducesLanes() &&
      tally(Recogniser::NestOutside, reduceOutsideOnce(start, end))) {
    return;
  }
  if (plan.cost < longCost) {
    emitSteps(depth, start, end, PeeledPart::Outside, 1);
    return;
  }
  OpBuilder &builder = outer();
  Value isAny = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, start, end);
  SmallVector<Value> before(reductions.accumulators.begin(), reductions.accumulators.end());
  auto choice = builder.create<scf::IfOp>(loc, TypeRange(ValueRange(before)), isAny,
                                          /*withElseRegion=*/!before.empty());
  OpBuilder then = OpBuilder::atBlockBegin(choice.thenBlock());
  inBranch(choice, then, [&] {
    Scope once(then);
    if (isInnermost) {
      evaluateAhead(once, start);
      ahead = &once;
    }
    emitSteps(depth, start, end, PeeledPart::Outside, 1);
    ahead = nullptr;
  });
  if (before.empty()) {
    return;
  }
  OpBuilder::atBlockEnd(choice.thenBlock())
      .create<scf::YieldOp>(loc, ValueRange(reductions.accumulators));
  OpBuilder::atBlockEnd(choice.elseBlock()).create<scf::YieldOp>(loc, ValueRange(before));
  reductions.accumulators.assign(choice.getResults().begin(), choice.getResults().end());
}

} // namespace nereid::cpu
