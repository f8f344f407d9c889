// SPDX-License-Identifier: Apache-2.0
// Loops and branches of the source program. A tile carried around a loop has one buffer that the
// body updates in place; an induction tile (pointer or offsets that advance by one uniform step)
// carries only that step's sum.
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/block/BlockLowering.h"
#include "lib/targets/cpu/lower/block/RuntimeCalls.h"
#include "lib/targets/cpu/lower/product/GemmLowering.h"
#include "lib/targets/cpu/lower/product/GemmOperands.h"
#include "lib/tile/analysis/BlockingLoops.h"

using namespace mlir;

namespace nereid::cpu {

/// What only goes on into an inner loop may be the sum of a matrix product there, which computes
/// some rows more.
static SmallVector<int64_t> shapeForCarried(Operation *loop, Value initial) {
  SmallVector<int64_t> shape(shapeOf(initial));
  auto outer = dyn_cast<scf::ForOp>(loop);
  if (!outer || shape.size() != 2 || !elementTypeOf(initial).isF32()) {
    return shape;
  }
  for (auto [init, arg] : llvm::zip_equal(outer.getInitArgs(), outer.getRegionIterArgs())) {
    bool goesOn = init == initial && arg.hasOneUse() && isa<scf::ForOp>(*arg.user_begin());
    shape[0] += goesOn ? gemmOverhangRows : 0;
  }
  return shape;
}

/// The buffer a carried tile lives in; takes over the initial value's own when nobody else reads
/// it and it is made anew for every run of the loop.
int BlockLowering::bufferForCarried(Operation *loop, Value initial, Copies &copies) {
  auto own = kernel.buffers.find(initial);
  if (tally(Recogniser::InPlaceTiles, own != kernel.buffers.end() && initial.hasOneUse() &&
                                          initial.getParentBlock() == loop->getBlock() &&
                                          kernel.buffer(own->second).element ==
                                              KernelState::memoryType(elementTypeOf(initial)))) {
    disown(initial);
    return own->second;
  }
  int buffer =
      kernel.allocate(shapeForCarried(loop, initial), elementTypeOf(initial), initial.getLoc());
  copies.push_back({initial, buffer});
  return buffer;
}

void BlockLowering::copyInto(const Copies &copies) {
  flush();
  Copies needed;
  for (auto [tile, target] : copies) {
    auto own = kernel.buffers.find(tile);
    if (own == kernel.buffers.end() || own->second != target) {
      needed.push_back({tile, target});
    }
  }
  bool staged = false;
  for (auto [tile, target] : needed) {
    Dims identity = identityDims(shapeOf(tile).size());
    kernel.plan.forEachLeaf(tile, identity, [&](Value leaf, const Dims &dims) {
      auto read = isTile(leaf) ? kernel.buffers.find(leaf) : kernel.buffers.end();
      if (read == kernel.buffers.end()) {
        return;
      }
      for (auto [otherTile, otherTarget] : needed) {
        bool aligned = shapeOf(otherTile) == shapeOf(tile) && shapeOf(leaf) == shapeOf(tile);
        for (size_t i = 0; aligned && i < dims.size(); ++i) {
          aligned = dims[i] == identity[i] || shapeOf(leaf)[i] == 1;
        }
        staged |= read->second == otherTarget && !aligned;
      }
    });
  }
  int64_t mark = kernel.scratchMark();
  Copies back;
  llvm::stable_sort(needed, [](const auto &a, const auto &b) {
    ArrayRef<int64_t> x = shapeOf(a.first), y = shapeOf(b.first);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  for (auto [tile, target] : needed) {
    int buffer = target;
    if (staged) {
      buffer = kernel.allocate(shapeOf(tile), elementTypeOf(tile), tile.getLoc());
      back.push_back({tile, buffer});
    }
    pending.add({FusionRoot::Kind::Materialise, nullptr, tile, buffer, true});
  }
  flush();
  for (size_t i = 0; i < back.size(); ++i) {
    // From the staging buffer: the tile is read through it for the length of one nest.
    auto [tile, buffer] = back[i];
    auto own = kernel.buffers.find(tile);
    std::optional<int> saved;
    if (own != kernel.buffers.end()) {
      saved = own->second;
    }
    kernel.buffers[tile] = buffer;
    Scope fresh(scope.builder);
    FusionRoot root{FusionRoot::Kind::Materialise, nullptr, tile, needed[i].second, true};
    LoopNest(kernel, fresh, root).build();
    if (saved) {
      kernel.buffers[tile] = *saved;
    } else {
      kernel.buffers.erase(tile);
    }
  }
  kernel.releaseTo(mark);
}

void BlockLowering::emitYield(OpBuilder &b, Location loc, ArrayRef<Value> observed) {
  kernel.isBlocking = true;
  Type i64 = b.getI64Type();
  // A hash: what matters is only whether it is the same as the last time.
  Value mixed = kernel.i64(0);
  for (Value value : observed) {
    Value bits = kernel.scalar(value);
    if (isa<FloatType>(bits.getType())) {
      Type word = b.getIntegerType(bits.getType().getIntOrFloatBitWidth());
      bits = b.create<arith::BitcastOp>(loc, word, bits);
    }
    bits = convertElements(b, loc, bits, i64);
    mixed = b.create<arith::MulIOp>(loc, mixed, kernel.i64(0x2545F4914F6CDD1D));
    mixed = b.create<arith::AddIOp>(loc, mixed, bits);
  }
  Place place = placeOf(loc);
  Value where = textAddress(kernel, b, place.file + ":" + std::to_string(place.line), loc);
  callRuntime(kernel, b, loc, "nereid_rt_yield", {mixed, where});
}

void BlockLowering::lowerFor(scf::ForOp op) {
  if (lowerGemm(*this, op)) {
    return;
  }
  Location loc = op.getLoc();
  int64_t outerMark = kernel.scratchMark();
  SmallVector<int> carriedBuffer(op.getInitArgs().size(), -1);
  SmallVector<Value> initial;
  SmallVector<int> slot(op.getInitArgs().size(), -1); // position among the scalar arguments
  Copies copies;
  Type i64 = builder().getI64Type();
  for (auto [i, init] : llvm::enumerate(op.getInitArgs())) {
    Value arg = op.getRegionIterArgs()[i];
    if (isTile(arg)) {
      tally(Recogniser::Induction, kernel.axes.induction(arg) != nullptr);
    }
    if (kernel.axes.induction(arg)) {
      slot[i] = static_cast<int>(initial.size());
      initial.push_back(kernel.zero(isPointerTile(arg) ? i64 : elementTypeOf(arg)));
    } else if (isTile(arg) && op->hasAttr(attribute::pipelinedRows)) {
      // Read only after the first row has written it.
      carriedBuffer[i] = kernel.allocate(shapeOf(arg), elementTypeOf(arg), loc);
      kernel.inPlace[op.getYieldedValues()[i]] = carriedBuffer[i];
    } else if (isTile(arg)) {
      carriedBuffer[i] = bufferForCarried(op, init, copies);
    } else {
      slot[i] = static_cast<int>(initial.size());
      initial.push_back(kernel.scalar(init));
    }
  }
  // Results of induction tiles are computed after the loop.
  SmallVector<int> resultBuffer(carriedBuffer);
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isTile(result) && carriedBuffer[i] < 0 && !result.use_empty()) {
      resultBuffer[i] = kernel.allocate(shapeOf(result), elementTypeOf(result), loc);
    }
  }
  copyInto(copies);
  for (auto [i, arg] : llvm::enumerate(op.getRegionIterArgs())) {
    if (carriedBuffer[i] < 0) {
      continue;
    }
    kernel.buffers[arg] = carriedBuffer[i];
    // A dot whose result is carried accumulates in the carried buffer, if nobody reads the old
    // value afterwards, nor the dot itself as a factor.
    auto dot = op.getYieldedValues()[i].getDefiningOp<tile::DotOp>();
    if (dot && dot->getBlock() == op.getBody() &&
        tally(Recogniser::SumInPlace, dot.getA() != arg && dot.getB() != arg &&
                                          kernel.plan.transposedOperand(dot) != arg &&
                                          kernel.plan.lastUse(arg) <= kernel.plan.position(dot) &&
                                          !kernel.buffers.count(dot.getResult()))) {
      kernel.buffers[dot.getResult()] = carriedBuffer[i];
    }
  }
  int64_t bodyMark = kernel.scratchMark();
  auto loop = builder().create<scf::ForOp>(loc, kernel.scalar(op.getLowerBound()),
                                           kernel.scalar(op.getUpperBound()),
                                           kernel.scalar(op.getStep()), initial);
  Block *body = loop.getBody();
  if (!body->empty()) {
    body->getTerminator()->erase();
  }
  kernel.scalars[op.getInductionVar()] = loop.getInductionVar();
  for (auto [i, arg] : llvm::enumerate(op.getRegionIterArgs())) {
    if (slot[i] >= 0) {
      auto &map = isTile(arg) ? kernel.inductionOffsets : kernel.scalars;
      map[arg] = loop.getRegionIterArgs()[slot[i]];
    }
  }
  BlockLowering inner(kernel, OpBuilder::atBlockEnd(body), &scope);
  inner.lower(*op.getBody());
  if (kernel.failed) {
    return;
  }
  inner.flush();
  Copies yields;
  SmallVector<Value> next;
  for (auto [i, value] : llvm::enumerate(op.getYieldedValues())) {
    Value arg = op.getRegionIterArgs()[i];
    if (carriedBuffer[i] >= 0) {
      if (value != arg) {
        yields.push_back({value, carriedBuffer[i]});
      }
    } else if (const tile::Induction *induction = kernel.axes.induction(arg)) {
      Value step = inner.scalarAtZero(induction->step);
      Value sum = kernel.inductionOffsets[arg];
      if (step.getType() != sum.getType()) {
        step = inner.builder().create<arith::ExtSIOp>(loc, sum.getType(), step);
      }
      next.push_back(inner.builder().create<arith::AddIOp>(loc, sum, step));
    } else {
      next.push_back(kernel.scalar(value));
    }
  }
  inner.copyInto(yields);
  if (tally(Recogniser::BlockingLoops, tile::polls(op))) {
    emitYield(inner.builder(), loc, {op.getInductionVar()});
  }
  inner.builder().create<scf::YieldOp>(loc, next);
  kernel.releaseTo(bodyMark);
  bool keepsScratch = false;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Value arg = op.getRegionIterArgs()[i];
    if (slot[i] >= 0 && !isTile(result)) {
      kernel.scalars[result] = loop.getResult(slot[i]);
    } else if (carriedBuffer[i] >= 0) {
      kernel.buffers[result] = carriedBuffer[i];
      keepsScratch = true;
    } else if (resultBuffer[i] >= 0) {
      kernel.inductionOffsets[arg] = loop.getResult(slot[i]);
      LoopNest(kernel, scope,
               FusionRoot{FusionRoot::Kind::Materialise, nullptr, arg, resultBuffer[i], true})
          .build();
      kernel.buffers[result] = resultBuffer[i];
      keepsScratch = true;
    }
  }
  if (!keepsScratch) {
    kernel.releaseTo(outerMark);
  }
}

void BlockLowering::lowerIf(scf::IfOp op) {
  Location loc = op.getLoc();
  SmallVector<Type> types;
  SmallVector<int> buffers(op.getNumResults(), -1);
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isTile(result)) {
      buffers[i] = kernel.allocate(shapeOf(result), elementTypeOf(result), loc);
    } else {
      types.push_back(KernelState::scalarType(result.getType()));
    }
  }
  bool hasElse = !op.getElseRegion().empty();
  auto branch = builder().create<scf::IfOp>(loc, types, kernel.scalar(op.getCondition()), hasElse);
  for (auto [region, lowered] :
       {std::pair<Region *, Region *>{&op.getThenRegion(), &branch.getThenRegion()},
        {&op.getElseRegion(), &branch.getElseRegion()}}) {
    if (region->empty()) {
      continue;
    }
    int64_t mark = kernel.scratchMark();
    Block &body = lowered->front();
    if (!body.empty()) {
      body.getTerminator()->erase();
    }
    BlockLowering inner(kernel, OpBuilder::atBlockEnd(&body), &scope);
    inner.lower(region->front());
    if (kernel.failed) {
      return;
    }
    inner.flush();
    Copies copies;
    SmallVector<Value> results;
    for (auto [i, value] : llvm::enumerate(region->front().getTerminator()->getOperands())) {
      if (buffers[i] >= 0) {
        copies.push_back({value, buffers[i]});
      } else {
        results.push_back(kernel.scalar(value));
      }
    }
    inner.copyInto(copies);
    inner.builder().create<scf::YieldOp>(loc, results);
    kernel.releaseTo(mark);
  }
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (buffers[i] >= 0) {
      kernel.buffers[result] = buffers[i];
    } else {
      kernel.scalars[result] = branch.getResult(next++);
    }
  }
}

void BlockLowering::lowerWhile(scf::WhileOp op) {
  Location loc = op.getLoc();
  Copies copies;
  SmallVector<Value> initial;
  SmallVector<int> before(op.getInits().size(), -1), after(op.getNumResults(), -1);
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    if (isTile(init)) {
      before[i] = bufferForCarried(op, init, copies);
    } else {
      initial.push_back(kernel.scalar(init));
    }
  }
  scf::ConditionOp condition = op.getConditionOp();
  SmallVector<Type> resultTypes;
  for (auto [i, value] : llvm::enumerate(condition.getArgs())) {
    if (!isTile(value)) {
      resultTypes.push_back(KernelState::scalarType(value.getType()));
      continue;
    }
    // Usually a carried tile is passed on as it is: then both regions share its buffer.
    auto arg = dyn_cast<BlockArgument>(value);
    bool passedOn =
        arg && arg.getOwner() == op.getBeforeBody() && llvm::count(condition.getArgs(), value) == 1;
    after[i] = passedOn ? before[arg.getArgNumber()]
                        : kernel.allocate(shapeOf(value), elementTypeOf(value), loc);
  }
  copyInto(copies);
  int64_t mark = kernel.scratchMark();
  SmallVector<Type> initialTypes;
  for (Value value : initial) {
    initialTypes.push_back(value.getType());
  }
  auto loop = builder().create<scf::WhileOp>(loc, resultTypes, initial);
  auto lowerRegion = [&](Block &source, Region &target, ArrayRef<Type> types, ArrayRef<int> buffers,
                         auto finish) {
    Block *body =
        builder().createBlock(&target, {}, types, SmallVector<Location>(types.size(), loc));
    builder().setInsertionPointAfter(loop);
    unsigned next = 0;
    for (auto [i, arg] : llvm::enumerate(source.getArguments())) {
      if (buffers[i] >= 0) {
        kernel.buffers[arg] = buffers[i];
      } else {
        kernel.scalars[arg] = body->getArgument(next++);
      }
    }
    BlockLowering inner(kernel, OpBuilder::atBlockEnd(body), &scope);
    inner.lower(source);
    if (!kernel.failed) {
      inner.flush();
      finish(inner);
    }
    kernel.releaseTo(mark);
  };
  auto collect = [&](BlockLowering &inner, ValueRange values, ArrayRef<int> targets) {
    Copies tiles;
    SmallVector<Value> scalars;
    for (auto [i, value] : llvm::enumerate(values)) {
      if (targets[i] >= 0) {
        tiles.push_back({value, targets[i]});
      } else {
        scalars.push_back(kernel.scalar(value));
      }
    }
    inner.copyInto(tiles);
    return scalars;
  };
  std::optional<SmallVector<Value>> observed = tile::blocksOn(op);
  tally(Recogniser::BlockingLoops, observed.has_value());
  lowerRegion(*op.getBeforeBody(), loop.getBefore(), initialTypes, before,
              [&](BlockLowering &inner) {
                Value holds = kernel.scalar(condition.getCondition());
                SmallVector<Value> scalars = collect(inner, condition.getArgs(), after);
                if (observed) {
                  auto again = inner.builder().create<scf::IfOp>(loc, holds, false);
                  OpBuilder then = again.getThenBodyBuilder();
                  emitYield(then, loc, *observed);
                }
                inner.builder().create<scf::ConditionOp>(loc, holds, scalars);
              });
  if (kernel.failed) {
    return;
  }
  lowerRegion(*op.getAfterBody(), loop.getAfter(), resultTypes, after, [&](BlockLowering &inner) {
    SmallVector<Value> scalars = collect(inner, op.getYieldOp().getResults(), before);
    inner.builder().create<scf::YieldOp>(loc, scalars);
  });
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (after[i] >= 0) {
      kernel.buffers[result] = after[i];
    } else {
      kernel.scalars[result] = loop.getResult(next++);
    }
  }
}

} // namespace nereid::cpu
