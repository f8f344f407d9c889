// SPDX-License-Identifier: Apache-2.0
// The loops of a nest and their parts; what one iteration does is emitBody.
#include "lib/targets/cpu/lower/nest/LoopNest.h"
#include "lib/targets/cpu/MachineSizes.h"

#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/lower/nest/NonTemporal.h"
#include "lib/targets/cpu/lower/nest/TransposedNest.h"

using namespace mlir;

namespace nereid::cpu {

static Location nestLocation(ArrayRef<FusionRoot> roots) {
  return roots[0].op ? roots[0].op->getLoc() : roots[0].value.getLoc();
}

LoopNest::LoopNest(KernelState &kernel, Scope &block, ArrayRef<FusionRoot> roots)
    : kernel(kernel), roots(roots), shape(roots[0].shape()), evaluator(kernel), reductions(roots),
      loc(nestLocation(roots)) {
  evaluator.scopes.push_back(&block);
}

void LoopNest::build() {
  plan = planLanes(kernel, roots);
  checkDelayedParts();
  evaluator.laneDim = plan.dim;
  evaluator.width = plan.width;
  evaluator.dimLevel.assign(shape.size(), 0);
  evaluator.dimIndex.assign(shape.size(), kernel.i64(0));
  evaluator.laneBase.assign(1, kernel.i64(0));
  for (int8_t d = 0; d < static_cast<int8_t>(shape.size()); ++d) {
    if (shape[d] != 1 && d != plan.dim && d != reductions.axis) {
      order.push_back(d);
    }
  }
  if (plan.dim != zeroDim) {
    order.push_back(plan.dim);
  }
  if (reductions.axis >= 0 && reductions.axis != plan.dim && shape[reductions.axis] != 1) {
    order.push_back(static_cast<int8_t>(reductions.axis));
  }
  for (unsigned i = 0; i < order.size(); ++i) {
    evaluator.dimLevel[order[i]] = static_cast<int>(i) + 1;
  }
  if (canTranspose(kernel, roots, plan)) {
    // Its coordinate differs inside one lane body, so nothing that depends on it may move out.
    transposedDim = static_cast<int8_t>(shape.size() - 1);
    evaluator.dimLevel[transposedDim] = evaluator.dimLevel[plan.dim];
    plan.unroll = 1;
  }
  for (const FusionRoot &root : roots) {
    if (root.kind == FusionRoot::Kind::Materialise && !root.isCopy) {
      results[root.value] = root.target;
    }
    if (root.kind == FusionRoot::Kind::Reduce && shape.size() > 1) {
      for (Value result : root.op->getResults()) {
        results[result] = kernel.allocate(shapeOf(result), elementTypeOf(result), loc);
      }
    }
  }
  buildLevel(0);
  for (auto [value, buffer] : results) {
    kernel.buffers[value] = buffer;
  }
}

void LoopNest::loop(Value low, Value high, int64_t step, Body body) {
  OpBuilder &creator = branch ? *branch : outer();
  auto forOp =
      creator.create<scf::ForOp>(loc, low, high, kernel.i64(step), reductions.accumulators);
  InFrontOf around(evaluator.scopes, forOp);
  OpBuilder *savedBranch = std::exchange(branch, nullptr);
  Block *block = forOp.getBody();
  if (!block->empty()) {
    block->getTerminator()->erase();
  }
  Scope inner(OpBuilder::atBlockEnd(block), ahead);
  evaluator.scopes.push_back(&inner);
  reductions.accumulators.assign(forOp.getRegionIterArgs().begin(),
                                 forOp.getRegionIterArgs().end());
  body(forOp.getInductionVar());
  inner.builder.create<scf::YieldOp>(loc, reductions.accumulators);
  evaluator.scopes.pop_back();
  branch = savedBranch;
  reductions.accumulators.assign(forOp.getResults().begin(), forOp.getResults().end());
}

/// A loop body that runs once needs no loop; its code still belongs to its own level.
void LoopNest::once(llvm::function_ref<void()> body) {
  OpBuilder &creator = branch ? *branch : outer();
  Scope inner(creator);
  OpBuilder *savedBranch = std::exchange(branch, nullptr);
  evaluator.scopes.push_back(&inner);
  body();
  evaluator.scopes.pop_back();
  branch = savedBranch;
}

void LoopNest::buildLevel(unsigned depth) {
  if (depth == order.size()) {
    emitBody(1);
    return;
  }
  int8_t dim = order[depth];
  if (dim == plan.dim) {
    buildLanes(depth);
    return;
  }
  if (buildRowsInside(depth)) {
    return;
  }
  int64_t step = dim == transposedDim ? evaluator.width : 1;
  loop(kernel.i64(0), kernel.i64(shape[dim]), step, [&](Value index) {
    evaluator.dimIndex[dim] = index;
    buildLevel(depth + 1);
  });
}

void LoopNest::buildLanes(unsigned depth) {
  evaluator.masks.clear();
  LoopBounds bounds = emitLoopBounds(evaluator, plan, shape[plan.dim]);
  buildVectorParts(depth, bounds);
}

/// Between start and end, which are multiples of the vector width apart.
void LoopNest::emitSteps(unsigned depth, Value start, Value end, PeeledPart part, unsigned copies) {
  evaluator.part = part;
  int64_t step = static_cast<int64_t>(evaluator.width) * copies;
  auto low = getConstantIntValue(start), high = getConstantIntValue(end);
  if (low && high && *low >= *high) {
    return;
  }
  if (low && high && *low + step == *high) {
    once([&] { emitLaneBody(depth, start, copies); });
    return;
  }
  loop(start, end, step, [&](Value base) {
    if (part == PeeledPart::Main && copies == plan.unroll) {
      Operation *lanes = outer().getInsertionBlock()->getParentOp();
      lanes->setAttr(attribute::wholeVectors, outer().getUnitAttr());
      if (reducesLanes()) {
        lanes->setAttr(attribute::anyLaneOrder, outer().getUnitAttr());
      }
    }
    if (int64_t size = shape[plan.dim];
        part == PeeledPart::Main && size <= sizes::mostShortRow(kernel.machine)) {
      OpBuilder &builder = outer();
      builder.getInsertionBlock()->getParentOp()->setAttr(attribute::shortRow,
                                                          builder.getI64IntegerAttr(size));
    }
    emitLaneBody(depth, base, copies);
  });
}

void LoopNest::emitLaneBody(unsigned depth, Value base, unsigned copies) {
  OpBuilder &builder = outer();
  evaluator.laneBase.clear();
  for (unsigned c = 0; c < copies; ++c) {
    evaluator.laneBase.push_back(
        c == 0 ? base : builder.create<arith::AddIOp>(loc, base, kernel.i64(c * evaluator.width)));
  }
  if (insideRows.rowsInLanes) {
    loopInsideRows([&] { emitBody(copies); });
    return;
  }
  if (depth + 1 == order.size()) {
    emitBody(copies);
    return;
  }
  // The reduced dimension is inside: accumulators live for one set of lanes.
  int8_t axis = order[depth + 1];
  int64_t first = 0;
  auto body = [&](Value index) {
    evaluator.dimIndex[axis] = index;
    emitBody(copies);
  };
  if (reductions.identitiesKnown) {
    reductions.start(evaluator, copies);
  } else {
    reductions.seeding = true;
    once([&] { body(kernel.i64(0)); });
    first = 1;
  }
  loop(kernel.i64(first), kernel.i64(shape[axis]), 1, body);
  reductions.finish(evaluator, copies, results);
  reductions.accumulators.clear();
}

/// In the main part, if its address is aligned.
bool LoopNest::canBeNonTemporal(tile::StoreOp store) const {
  // Of blocks that are transposed nothing is known in front of the loop: both their dimensions
  // belong to its inside.
  if (!kernel.machine.hasNonTemporalStores || evaluator.width == 1 || transposedDim != zeroDim) {
    return false;
  }
  // Narrow types: neighbouring copies of the unrolled body are joined to a full register.
  int64_t bytes = KernelState::byteSize(elementTypeOf(store.getValue())) * evaluator.width;
  Axis axis = kernel.axes.axis(store.getPointer(), plan.dim, AxisView::Assumed);
  return axis.kind == AxisKind::Linear && axis.stride.value_or(1) == 1 && bytes >= 16 &&
         bytes <= kernel.machine.vectorBytes;
}

Value LoopNest::isAligned(tile::StoreOp store) {
  OpBuilder &builder = outer();
  Dims dims = identityDims(shape.size());
  dims[plan.dim] = zeroDim;
  Value address = evaluator.evaluateAddressBits(store.getPointer(), dims, 0);
  Value low =
      builder.create<arith::AndIOp>(loc, address, kernel.i64(kernel.machine.vectorBytes - 1));
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, low, kernel.i64(0));
}

/// Decides once for the lane loop about stores that are non-temporal in large launches only.
void LoopNest::findLargeStores() {
  evaluator.part = PeeledPart::Main;
  for (const FusionRoot &root : roots) {
    auto store =
        root.kind == FusionRoot::Kind::Store ? cast<tile::StoreOp>(root.op) : tile::StoreOp();
    Value isLarge = store && canBeNonTemporal(store) ? isLargeLaunch(kernel, store) : Value();
    if (isLarge) {
      kernel.storesNonTemporal = true;
      largeStores[store] = outer().create<arith::AndIOp>(loc, isLarge, isAligned(store));
    }
  }
}

Value LoopNest::alignedForNonTemporal() {
  if (!reductions.accumulators.empty() || reductions.axis >= 0 || insideRows.rowsInLanes) {
    return nullptr;
  }
  Value all;
  OpBuilder &builder = outer();
  evaluator.part = PeeledPart::Main;
  for (const FusionRoot &root : roots) {
    auto store =
        root.kind == FusionRoot::Kind::Store ? cast<tile::StoreOp>(root.op) : tile::StoreOp();
    if (!store || store.getCache() != tile::CacheModifier::CS || !canBeNonTemporal(store)) {
      continue;
    }
    Value aligned = isAligned(store);
    all = all ? builder.create<arith::AndIOp>(loc, all, aligned) : aligned;
  }
  return all;
}

void LoopNest::emitMain(unsigned depth, Value start, Value end) {
  unsigned copies = reducesLanes() && !reductions.identitiesKnown ? 1 : plan.unroll;
  Value aligned = alignedForNonTemporal();
  if (!aligned) {
    mainEnd = end;
    if (depth + 1 == order.size()) {
      findLargeStores();
    }
    emitSteps(depth, start, end, PeeledPart::Main, copies);
    largeStores.clear();
    mainEnd = {};
    return;
  }
  auto choice = outer().create<scf::IfOp>(loc, aligned, true);
  for (bool bypasses : {true, false}) {
    isNonTemporal = bypasses;
    inBranch(choice, bypasses ? choice.getThenBodyBuilder() : choice.getElseBodyBuilder(),
             [&] { emitSteps(depth, start, end, PeeledPart::Main, copies); });
  }
  isNonTemporal = false;
}

/// Loops of the body go into the branch, code of the levels around in front of the choice.
void LoopNest::inBranch(Operation *choice, OpBuilder inside, llvm::function_ref<void()> body) {
  InFrontOf around(evaluator.scopes, choice);
  branch = &inside;
  body();
  branch = nullptr;
}

void LoopNest::buildVectorParts(unsigned depth, const LoopBounds &bounds) {
  const int64_t size = shape[plan.dim];
  const int64_t width = evaluator.width;
  const int64_t covered = size / width * width; // in vectors; the rest is scalar
  OpBuilder &builder = outer();
  int64_t first = 0;
  if (reducesLanes()) {
    if (reductions.identitiesKnown) {
      reductions.start(evaluator, plan.unroll);
    } else {
      reductions.seeding = true;
      evaluator.part = PeeledPart::Boundary;
      once([&] { emitLaneBody(depth, kernel.i64(0), 1); });
      first = width;
    }
  }
  unsigned copies = reducesLanes() && !reductions.identitiesKnown ? 1 : plan.unroll;
  const int64_t block = width * copies;
  Value start = kernel.i64(first), end = kernel.i64(covered), stop = kernel.i64(size);
  Value mainEnd;
  if (!bounds.mainEnd) {
    int64_t inBlocks = first + (covered - first) / block * block;
    mainEnd = kernel.i64(inBlocks);
  } else if (transposedDim != zeroDim) {
    mainEnd = start; // a body is long, and masks take little of its time
  } else {
    Value usable = builder.create<arith::MinSIOp>(loc, bounds.mainEnd, end);
    usable = builder.create<arith::SubIOp>(loc, usable, start);
    usable = builder.create<arith::MaxSIOp>(loc, usable, kernel.i64(0));
    usable = builder.create<arith::AndIOp>(loc, usable, kernel.i64(-block));
    mainEnd = builder.create<arith::AddIOp>(loc, usable, start);
  }
  Value outsideStart = end;
  if (bounds.outsideStart) {
    // Rounded up to whole vectors counted from the start of the main part.
    Value rounded = builder.create<arith::AddIOp>(loc, bounds.outsideStart, kernel.i64(width - 1));
    rounded = builder.create<arith::AndIOp>(loc, rounded, kernel.i64(-width));
    rounded = builder.create<arith::MinSIOp>(loc, rounded, end);
    outsideStart = builder.create<arith::MaxSIOp>(loc, rounded, start);
  }
  emitMain(depth, start, mainEnd);
  if (reducesLanes()) {
    reductions.foldCopies(evaluator);
  }
  bool scalarEnds = plan.scalarEnds && bounds.mainEnd && width > 1;
  if (scalarEnds) {
    if (reducesLanes()) {
      reductions.foldLanes(evaluator);
    }
    evaluator.width = 1;
  }
  bool skipOutside = bounds.outsideStart && llvm::all_of(roots, [&](const FusionRoot &root) {
                       return endsWithMask(root);
                     });
  if (bounds.mainEnd) {
    emitSteps(depth, mainEnd, outsideStart, PeeledPart::Boundary, 1);
    if (bounds.outsideStart && !skipOutside) {
      emitOutside(depth, outsideStart, end);
    }
  } else {
    emitSteps(depth, mainEnd, end, PeeledPart::Main, 1);
  }
  if (reducesLanes() && evaluator.width > 1) {
    reductions.foldLanes(evaluator);
  }
  evaluator.width = 1;
  if (covered < size) {
    emitSteps(depth, end, stop, PeeledPart::Boundary, 1);
  }
  evaluator.width = static_cast<unsigned>(width);
  evaluator.part = PeeledPart::Plain;
  if (reducesLanes()) {
    reductions.finish(evaluator, 1, results);
    reductions.accumulators.clear();
  }
}

void LoopNest::emitStore(tile::StoreOp store, ArrayRef<Value> values, bool isAligned) {
  if (isAligned && store.getCache() == tile::CacheModifier::CS && canBeNonTemporal(store)) {
    evaluator.storeNonTemporal(store, values);
    kernel.storesNonTemporal = true;
    return;
  }
  auto storePlainly = [&] {
    for (unsigned c = 0; c < values.size(); ++c) {
      evaluator.store(store, c, values[c], false);
    }
  };
  Value isLarge = largeStores.lookup(store);
  if (!isLarge) {
    storePlainly();
    return;
  }
  Scope *lanes = evaluator.scopes.back();
  auto choice = lanes->builder.create<scf::IfOp>(loc, isLarge, true);
  InFrontOf around(ArrayRef(evaluator.scopes).drop_back(), choice);
  Scope past(choice.getThenBodyBuilder(), lanes), through(choice.getElseBodyBuilder(), lanes);
  evaluator.scopes.back() = &past;
  evaluator.storeNonTemporal(store, values);
  evaluator.scopes.back() = &through;
  storePlainly();
  evaluator.scopes.back() = lanes;
}

void LoopNest::emitBody(unsigned copies) {
  if (transposedDim != zeroDim) {
    emitTransposed(evaluator, roots[0], plan, transposedDim, loc);
    return;
  }
  // All copies are evaluated before anything is stored: stores would keep loads from moving up.
  SmallVector<SmallVector<Value>> reduced(copies);
  SmallVector<SmallVector<Value>> stored(copies);
  for (const FusionRoot &root : roots) {
    if (root.guard) {
      emitDelayedStore(root, copies);
    }
  }
  for (unsigned c = 0; c < copies; ++c) {
    for (const FusionRoot &root : roots) {
      if (root.guard) {
        continue;
      }
      Dims dims = identityDims(shape.size());
      switch (root.kind) {
      case FusionRoot::Kind::Reduce:
        for (Value source : cast<tile::ReduceOp>(root.op).getSources()) {
          reduced[c].push_back(evaluator.evaluateLanes(source, dims, c));
        }
        break;
      case FusionRoot::Kind::Materialise:
        stored[c].push_back(isPointerTile(root.value)
                                ? evaluator.evaluateAddressBits(root.value, dims, c)
                                : evaluator.evaluate(root.value, dims, c));
        break;
      case FusionRoot::Kind::Store: {
        Value value = cast<tile::StoreOp>(root.op).getValue();
        stored[c].push_back(isPointerTile(value) ? evaluator.evaluateAddressBits(value, dims, c)
                                                 : evaluator.evaluate(value, dims, c));
        break;
      }
      }
    }
  }
  if (!reductions.combiners.empty()) {
    reductions.accumulate(evaluator, reduced, copies);
  }
  unsigned next = 0;
  for (const FusionRoot &root : roots) {
    if (root.kind == FusionRoot::Kind::Reduce || root.guard) {
      continue;
    }
    if (root.kind == FusionRoot::Kind::Materialise) {
      for (unsigned c = 0; c < copies; ++c) {
        evaluator.storeToBuffer(root.target, stored[c][next], identityDims(shape.size()), c, loc);
      }
    } else {
      auto store = cast<tile::StoreOp>(root.op);
      SmallVector<Value> values;
      for (unsigned c = 0; c < copies; ++c) {
        values.push_back(stored[c][next]);
      }
      emitStore(store, values, isNonTemporal);
    }
    ++next;
  }
  if (reductions.axis >= 0 && shape[reductions.axis] == 1) {
    reductions.finish(evaluator, copies, results); // one element along the axis: it is the result
    reductions.accumulators.clear();
  }
}

} // namespace nereid::cpu
