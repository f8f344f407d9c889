// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/PipelinedLoop.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/threads/Staging.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

class Loop {
public:
  Loop(scf::ForOp loop, LoopPlan plan)
      : loop(loop), loads(std::move(plan.loads)), held(std::move(plan.held)), stages(plan.stages),
        isForWarpgroups(plan.isForWarpgroups), deferred(plan.deferred), loc(loop.getLoc()) {}

  void run() {
    for (const StagedLoad &one : loads) {
      addCopy(slice, loop, one);
    }
    OpBuilder b(loop);
    SmallVector<tile::LoadOp> copied;
    for (const HeldFactor &factor : held) {
      copied.push_back(copiedLoadOf(loop, factor));
    }
    b.create<BeginCopiesOp>(loc);
    for (auto [factor, load] : llvm::zip(held, copied)) {
      hold(b, factor, load);
    }
    const SmallVector<Value> ahead = fill(b);
    rebuild(b, ahead);
  }

private:
  Value number(OpBuilder &b, int64_t value) {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(loop.getStep().getType(), value));
  }
  int64_t step() {
    APInt value;
    matchPattern(loop.getStep(), m_ConstantInt(&value));
    return value.getSExtValue();
  }

  /// Fills the factor's slot. The first turn waits for that as for its own copies: its fence and
  /// its barrier are behind what is stored, too.
  void hold(OpBuilder &b, const HeldFactor &factor, tile::LoadOp load) {
    Value slot = b.create<arith::ConstantIntOp>(loc, 0, 32);
    if (load) {
      Value always = b.create<arith::ConstantIntOp>(loc, 1, 1);
      b.create<AsyncCopyOp>(load.getLoc(), load.getPointer(), load.getMask(), load.getOther(),
                            always, slot, factor.place, factor.fastest);
    } else {
      b.create<StoreCopyOp>(factor.tile.getLoc(), factor.tile, slot, factor.place, factor.fastest);
    }
    // Places that are computed from it in each turn take no registers in all the others.
    OpBuilder first = OpBuilder::atBlockBegin(loop.getBody());
    Value now = first.create<OpaqueOp>(loc, slot);
    for (auto dot : loop.getBody()->getOps<tile::DotOp>()) {
      for (unsigned i : {0U, 1U}) {
        OpOperand &use = dot->getOpOperand(i);
        if (!dot->hasAttr(warpgroupAttribute) || rootOf(use.get()) != factor.tile) {
          continue;
        }
        Operation *transpose = use.get() != factor.tile ? use.get().getDefiningOp() : nullptr;
        OpBuilder before(dot);
        use.set(before.create<ReadCopyOp>(factor.tile.getLoc(), use.get().getType(), now,
                                          factor.place, factor.fastest, transpose != nullptr));
        if (transpose && transpose->use_empty()) {
          transpose->erase();
        }
      }
    }
    if (load) {
      load.erase(); // all of its users were these products
    }
  }

  /// The loop in front: copies of the first turns. What the loop carries behind those, for the
  /// slice.
  SmallVector<Value> fill(OpBuilder &b) {
    SmallVector<Value> initials;
    for (unsigned index : slice.carried) {
      initials.push_back(loop.getInitArgs()[index]);
    }
    initials.push_back(b.create<arith::ConstantIntOp>(loc, 0, 32)); // slot
    auto first = b.create<scf::ForOp>(loc, number(b, 0), number(b, (stages - 1) * step()),
                                      loop.getStep(), initials);
    if (first.getBody()->mightHaveTerminator()) {
      first.getBody()->getTerminator()->erase();
    }
    OpBuilder inside = OpBuilder::atBlockEnd(first.getBody());
    Value distance = first.getInductionVar();
    Value turn = inside.create<arith::AddIOp>(loc, loop.getLowerBound(), distance);
    Value hasAny = inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                                loop.getLowerBound(), loop.getUpperBound());
    Value count = inside.create<arith::SubIOp>(loc, loop.getUpperBound(), loop.getLowerBound());
    Value reaches = inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, count, distance);
    Value guard = inside.create<arith::AndIOp>(loc, hasAny, reaches);
    Value slot = first.getRegionIterArgs().back();
    SmallVector<Value> next =
        copies(inside, loop, turn, first.getRegionIterArgs().drop_back(), guard, slot);
    Value one = inside.create<arith::ConstantIntOp>(loc, 1, 32);
    next.push_back(inside.create<arith::AddIOp>(loc, slot, one));
    inside.create<scf::YieldOp>(loc, next);
    return SmallVector<Value>(first.getResults().drop_back());
  }

  /// The copies of a turn, as `from` has them; returns what the slice carries to the next one.
  SmallVector<Value> copies(OpBuilder &b, scf::ForOp from, Value turn, ValueRange carried,
                            Value guard, Value slot) {
    IRMapping mapping;
    mapping.map(from.getInductionVar(), turn);
    for (auto [index, value] : llvm::zip(slice.carried, carried)) {
      mapping.map(from.getRegionIterArgs()[index], value);
    }
    for (Operation *op : slice.operations) {
      b.clone(*op, mapping);
    }
    for (StagedLoad &one : loads) {
      copy(b, one, mapping, guard, slot);
    }
    b.create<CommitCopiesOp>(loc);
    SmallVector<Value> next;
    for (unsigned index : slice.carried) {
      next.push_back(mapping.lookupOrDefault(from.getYieldedValues()[index]));
    }
    return next;
  }

  void copy(OpBuilder &b, StagedLoad &one, IRMapping &mapping, Value guard, Value slot) {
    auto at = [&](Value value) { return value ? mapping.lookupOrDefault(value) : value; };
    auto create = [&](OpBuilder &place, Value pointer) {
      place.create<AsyncCopyOp>(one.load.getLoc(), pointer, at(one.load.getMask()),
                                at(one.load.getOther()), guard, slot, one.place, one.fastest);
    };
    if (!one.neighbours) {
      create(b, at(one.load.getPointer()));
      return;
    }
    if (!one.neighbours->condition) {
      create(b, at(one.neighbours->tile));
      return;
    }
    auto branch = b.create<scf::IfOp>(one.load.getLoc(), at(one.neighbours->condition),
                                      /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder();
    create(then, at(one.neighbours->tile));
    OpBuilder other = branch.getElseBodyBuilder();
    SmallVector<Value> starts;
    for (Value start : one.neighbours->starts) {
      starts.push_back(at(start));
    }
    create(other, madeApart(other, at(one.load.getPointer()), starts));
  }

  void rebuild(OpBuilder &b, ArrayRef<Value> ahead) {
    SmallVector<Value> initials(loop.getInitArgs());
    initials.append(ahead.begin(), ahead.end());
    initials.push_back(b.create<arith::ConstantIntOp>(loc, 0, 32)); // slot
    auto made = b.create<scf::ForOp>(loc, loop.getLowerBound(), loop.getUpperBound(),
                                     loop.getStep(), initials);
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Block *body = made.getBody();
    if (body->mightHaveTerminator()) {
      body->getTerminator()->erase();
    }
    OpBuilder inside = OpBuilder::atBlockEnd(body);
    inside.create<WaitCopiesOp>(loc, static_cast<uint64_t>(stages - 2), isForWarpgroups);
    Value slot = made.getRegionIterArgs().back();
    turnTiles(inside, slot);
    auto small = [&](int64_t value) {
      return inside.create<arith::ConstantIntOp>(loc, value, 32).getResult();
    };
    auto wrapped = [&](int64_t when, Value otherwise, int64_t to) {
      Value is = inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, slot, small(when));
      return inside.create<arith::SelectOp>(loc, is, small(to), otherwise).getResult();
    };
    Value before = wrapped(0, inside.create<arith::SubIOp>(loc, slot, small(1)), stages - 1);
    Value behind = wrapped(stages - 1, inside.create<arith::AddIOp>(loc, slot, small(1)), 0);
    Value distance = number(inside, (stages - 1) * step());
    Value turn = inside.create<arith::AddIOp>(loc, made.getInductionVar(), distance);
    Value left = inside.create<arith::SubIOp>(loc, made.getUpperBound(), made.getInductionVar());
    Value guard = inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, left, distance);
    const size_t own = loop.getNumRegionIterArgs();
    for (auto [from, to] :
         llvm::zip(loop.getBody()->getArguments(), body->getArguments().take_front(own + 1))) {
      from.replaceAllUsesWith(to);
    }
    Operation *lastOfStart = &body->back();
    body->getOperations().splice(body->end(), loop.getBody()->getOperations());
    auto yield = cast<scf::YieldOp>(body->getTerminator());
    inside.setInsertionPointAfter(lastOfStart);
    if (deferred > 0) {
      inside.setInsertionPoint(yield);
      inside.create<WaitProductsOp>(loc, static_cast<uint64_t>(deferred));
      inside.create<tile::BarrierOp>(loc);
    }
    const SmallVector<Value> nextAhead = copies(
        inside, made, turn, made.getRegionIterArgs().drop_front(own).drop_back(), guard, before);
    SmallVector<Value> handed(yield.getOperands());
    handed.append(nextAhead.begin(), nextAhead.end());
    handed.push_back(behind);
    yield->setOperands(handed);
    for (StagedLoad &one : loads) {
      readFrom(one, slot);
    }
    b.setInsertionPointAfter(made);
    for (auto [from, to] : llvm::zip(loop.getResults(), made.getResults().take_front(own))) {
      Value behind = to;
      if (isDeferred(yield.getOperand(to.getResultNumber()))) {
        behind = b.create<AwaitProductOp>(loc, to);
      }
      from.replaceAllUsesWith(behind);
    }
    b.create<EndCopiesOp>(loc);
    loop.erase();
  }

  void turnTiles(OpBuilder &b, Value slot) {
    bool areAny = false;
    for (StagedLoad &one : loads) {
      if (one.turned) {
        auto type = cast<RankedTensorType>(one.load.getType());
        b.create<TurnCopyOp>(one.load.getLoc(), slot, type, one.place, *one.turned, one.fastest);
        areAny = true;
      }
    }
    if (areAny) {
      b.create<WaitCopiesOp>(loc, static_cast<uint64_t>(stages - 2), isForWarpgroups);
    }
  }

  static void readFrom(StagedLoad &one, Value slot) {
    SmallVector<OpOperand *> uses;
    SmallVector<Operation *> transposes;
    for (OpOperand &use : one.load.getResult().getUses()) {
      if (isa<tile::TransOp>(use.getOwner())) {
        transposes.push_back(use.getOwner());
        for (OpOperand &inner : use.getOwner()->getResult(0).getUses()) {
          uses.push_back(&inner);
        }
      } else {
        uses.push_back(&use);
      }
    }
    for (OpOperand *use : uses) {
      OpBuilder b(use->getOwner());
      const bool isTransposed = use->get() != one.load.getResult();
      use->set(b.create<ReadCopyOp>(one.load.getLoc(), use->get().getType(), slot,
                                    one.turned.value_or(one.place),
                                    one.turned ? 1 - one.fastest : one.fastest, isTransposed));
    }
    for (Operation *transpose : transposes) {
      transpose->erase();
    }
    one.load.erase();
  }

  static bool isDeferred(Value handed) {
    Operation *op = handed.getDefiningOp();
    return op && op->hasAttr(deferredAttribute);
  }

  scf::ForOp loop;
  SmallVector<StagedLoad> loads;
  SmallVector<HeldFactor> held;
  int64_t stages;
  bool isForWarpgroups;
  int64_t deferred;
  Location loc;
  Slice slice;
};

} // namespace

int64_t placeSlots(MutableArrayRef<StagedLoad> loads, MutableArrayRef<HeldFactor> held,
                   int64_t stages) {
  int64_t end = 0;
  const auto next = [&](int64_t bytes) {
    const auto begin =
        static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(end), slotAlignment));
    end = begin + bytes;
    return begin;
  };
  for (StagedLoad &one : loads) {
    one.place = next(one.bytes() * stages);
    if (one.turned) {
      one.turned = next(one.bytes() * stages);
    }
  }
  for (HeldFactor &factor : held) {
    factor.place = next(factor.bytes());
  }
  return end;
}

void pipelineLoop(scf::ForOp loop, LoopPlan plan) { Loop(loop, std::move(plan)).run(); }

} // namespace nereid::nvidia
