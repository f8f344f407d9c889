// SPDX-License-Identifier: Apache-2.0
// nvidia-pipeline-loops: copy operands of products into shared memory turns ahead of their use.
//
// Why: a thread does not wait for memory while it multiplies, and registers hold no operands.
// Requires: one function, without calls and layouts.
// Guarantees: a loop's copies of several turns are under way at once, in slots of their own. At the
// start of a turn all threads wait for the turn's copies; then the slot is free that the turn
// before has read, and the copies for the turn that needs it begin. Behind the loop nothing is
// under way. Copies of turns that do not come are guarded. Products that warpgroups can make are
// marked; where the last of them may go on in the next turn, the slot is free when all threads have
// waited at the end of a turn for the products of the turn before, and the copies begin there.
// Example, with three slots:
//   for i { a = load(p + i) ; acc = dot(a, …) }
// becomes
//   begin ; for t in 0, 1 { async_copy p + t when t is a turn ; commit }
//   for i { wait 1 ; async_copy p + i + 2 when that is a turn ; commit ; acc = dot(read_copy, …) }
//   end
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/pipeline/CarriedTiles.h"
#include "lib/targets/nvidia/pipeline/Declined.h"
#include "lib/targets/nvidia/pipeline/NeighbourLoops.h"
#include "lib/targets/nvidia/pipeline/Passes.h"
#include "lib/targets/nvidia/pipeline/StagedLoads.h"
#include "lib/targets/nvidia/pipeline/WarpgroupProducts.h"
#include "lib/targets/nvidia/threads/Staging.h"
#include "lib/tile/ir/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

/// Of slots, where the source does not say: more keep a second program off the processor.
constexpr int64_t usualStages = 3;

/// Bytes that one asynchronous copy of the pointer's elements could move.
int64_t vectorBytes(const tile::AxisInfo &info, int64_t dim) {
  constexpr int64_t elementBytes = 2;
  const auto axis = static_cast<unsigned>(dim);
  return std::min({int64_t{16}, info.contiguity(axis) * elementBytes, info.divisibility(axis)});
}

class Loop {
public:
  /// `deferred` products of a turn end in the next one.
  Loop(scf::ForOp loop, SmallVector<StagedLoad> loads, int64_t stages, bool isForWarpgroups,
       int64_t deferred)
      : loop(loop), loads(std::move(loads)), stages(stages), isForWarpgroups(isForWarpgroups),
        deferred(deferred), loc(loop.getLoc()) {}

  /// Says where the slots of each load begin; returns the bytes of all.
  static int64_t place(MutableArrayRef<StagedLoad> loads, int64_t stages) {
    int64_t end = 0;
    for (StagedLoad &one : loads) {
      one.place = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(end), slotAlignment));
      end = one.place + one.bytes() * stages;
    }
    return end;
  }

  void run() {
    for (const StagedLoad &one : loads) {
      addCopy(slice, loop, one);
    }
    OpBuilder b(loop);
    b.create<BeginCopiesOp>(loc);
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
      use->set(b.create<ReadCopyOp>(one.load.getLoc(), use->get().getType(), slot, one.place,
                                    one.fastest, isTransposed));
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
  int64_t stages;
  bool isForWarpgroups;
  int64_t deferred;
  Location loc;
  Slice slice;
};

class PipelineLoopsPass : public PassWrapper<PipelineLoopsPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PipelineLoopsPass)

  explicit PipelineLoopsPass(const NvidiaMachine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "nvidia-pipeline-loops"; }
  StringRef getDescription() const override {
    return "copy operands of products into shared memory turns ahead of their use";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<NvidiaDialect>();
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(tile::attribute::kernel)) {
      return;
    }
    SmallVector<scf::ForOp> loops;
    {
      tile::MemoryAccesses accesses;
      accesses.find(kernel);
      kernel.walk([&](scf::ForOp loop) {
        if (hasCopies(loop, accesses)) {
          loops.push_back(loop);
        }
      });
    }
    if (loops.empty()) {
      return;
    }
    for (scf::ForOp &loop : loops) {
      loop = carryScalars(loop);
    }
    SmallVector<SmallVector<StagedLoad>> loads;
    {
      const tile::AxisInfos axes(kernel);
      tile::MemoryAccesses accesses;
      accesses.find(kernel);
      for (scf::ForOp loop : loops) {
        loads.push_back(stagedLoadsOf(loop, accesses));
        for (StagedLoad &one : loads.back()) {
          OpBuilder before(one.load);
          one.neighbours = withNeighbours(before, one.load.getPointer(), axes);
        }
      }
    }
    const tile::AxisInfos axes(kernel);
    for (auto [loop, list] : llvm::zip(loops, loads)) {
      llvm::erase_if(list, [&, loop = loop](StagedLoad &one) {
        const bool isChosen = choose(one, axes);
        if (!isChosen) {
          declineLoop(loop, one.load,
                      "no two elements of the block are known to be neighbours at "
                      "a multiple of 4 bytes");
        }
        return !isChosen;
      });
    }
    for (auto [loop, list] : llvm::zip(loops, loads)) {
      if (std::optional<OtherLoop> other = askForNeighbours(loop, list)) {
        if (failed(pipeline(other->loop, other->loads))) {
          return signalPassFailure();
        }
      }
      if (failed(pipeline(loop, list))) {
        return signalPassFailure();
      }
    }
    if (copyBytes > 0) {
      kernel->setAttr(copyBytesAttribute,
                      OpBuilder(kernel.getContext()).getI64IntegerAttr(copyBytes));
    }
  }

private:
  /// Whether there is something to copy ahead in the loop; a remark says why not.
  static bool hasCopies(scf::ForOp loop, const tile::MemoryAccesses &accesses) {
    if (stagesOf(loop) < 2) {
      declineLoop(loop, loop, "num_stages is " + Twine(stagesOf(loop)));
    } else if (!hasUsualStep(loop)) {
      declineLoop(loop, loop, "the step of the loop is no constant from 1 to 2^20 - 1");
    } else if (Operation *found = keepsTurnsApart(loop, accesses)) {
      declineTurns(loop, found);
    } else if (stagedLoadsOf(loop, accesses).empty()) {
      declineOperands(loop);
    } else {
      return true;
    }
    return false;
  }

  static int64_t stagesOf(scf::ForOp loop) { return saidStages(loop).value_or(usualStages); }

  /// Of the loop, else of the kernel; nothing where the source leaves it open.
  static std::optional<int64_t> saidStages(scf::ForOp loop) {
    for (Operation *op :
         {loop.getOperation(), loop->getParentOfType<func::FuncOp>().getOperation()}) {
      if (auto stages = op->getAttrOfType<IntegerAttr>(tile::attribute::numStages)) {
        return stages.getInt();
      }
    }
    return std::nullopt;
  }

  /// Steps that no sum of a few makes wrap around.
  static bool hasUsualStep(scf::ForOp loop) {
    APInt step;
    return matchPattern(loop.getStep(), m_ConstantInt(&step)) && step.isStrictlyPositive() &&
           step.getActiveBits() <= 20;
  }

  /// Which way of its addresses a copy takes; false where memory is not asynchronous for it.
  static bool choose(StagedLoad &one, const tile::AxisInfos &axes) {
    constexpr int64_t leastBytes = 4;
    int64_t best = 0;
    bool takesNeighbours = false;
    auto consider = [&](Value pointer, bool isNeighbours) {
      const tile::AxisInfo info = axes.of(pointer);
      for (int64_t dim : {1, 0}) {
        if (vectorBytes(info, dim) > best) {
          best = vectorBytes(info, dim);
          one.fastest = dim;
          takesNeighbours = isNeighbours;
        }
      }
    };
    consider(one.load.getPointer(), false);
    if (one.neighbours) {
      consider(one.neighbours->tile, true);
      if (!takesNeighbours) {
        one.neighbours.reset();
      }
    }
    return best >= leastBytes;
  }

  LogicalResult pipeline(scf::ForOp loop, SmallVector<StagedLoad> &loads) {
    Slice slice;
    llvm::erase_if(loads, [&](const StagedLoad &one) {
      const bool isAdded = addCopy(slice, loop, one);
      if (!isAdded) {
        declineLoop(loop, one.load, "where it lies is only known in its own turn of the loop");
      }
      return !isAdded;
    });
    const int64_t room = roomFor(loop, loads);
    const int64_t asked = loads.empty() ? 0 : std::min<int64_t>(stagesOf(loop), 32);
    int64_t stages = asked;
    while (stages > 1 && Loop::place(loads, stages) > room) {
      --stages;
    }
    // Upstream has a slot less for as many stages, so that its configs may fit by that alone.
    if (saidStages(loop) && stages < asked - 1) {
      return refuseStages(loop, loads, {asked, Loop::place(loads, asked), room, stages + 1},
                          machine);
    }
    if (stages < 2) {
      if (!loads.empty()) {
        declineLoop(loop, loop,
                    "two turns of " + Twine(Loop::place(loads, 1)) + " bytes are more than the " +
                        Twine(room) + " bytes of shared memory that are left");
      }
      return success();
    }
    if (stages < asked) {
      emitRemark(loop.getLoc()) << "operands of products are copied ahead in " << stages
                                << " stages: " << asked << " take " << Loop::place(loads, asked)
                                << " bytes of shared memory, and " << room << " are left [R0404]";
    }
    copyBytes = std::max(copyBytes, Loop::place(loads, stages));
    int64_t deferred = 0;
    if (machine.hasWarpgroups) {
      deferred = markWarpgroupProducts(loop, loads, threadsOf(getOperation()));
    }
    const bool isForWarpgroups =
        llvm::any_of(*loop.getBody(), [](Operation &op) { return op.hasAttr(warpgroupAttribute); });
    Loop(loop, loads, stages, isForWarpgroups, deferred).run();
    return success();
  }

  /// Whether the loop's tiles are its loads, products of them that are carried, and whole numbers.
  static bool onlyMultiplies(scf::ForOp loop, ArrayRef<StagedLoad> loads) {
    const bool carriesProducts = llvm::all_of(
        llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues()), [&](const auto &one) {
          auto [carried, handed] = one;
          auto dot = handed.template getDefiningOp<tile::DotOp>();
          return !isTile(carried) || (dot && dot.getC() == carried && carried.hasOneUse());
        });
    return carriesProducts && llvm::all_of(*loop.getBody(), [&](Operation &op) {
             if (auto dot = dyn_cast<tile::DotOp>(op)) {
               return stagedLoadOf(dot.getA(), loads) && stagedLoadOf(dot.getB(), loads);
             }
             return llvm::all_of(op.getResults(), [&](Value result) {
               return !isTile(result) || stagedLoadOf(result, loads) ||
                      !isa<FloatType>(tile::elementTypeOf(result.getType()));
             });
           });
  }

  /// Shared memory for slots: what else the loop stages needs its room, too.
  int64_t roomFor(scf::ForOp loop, ArrayRef<StagedLoad> loads) const {
    const bool stagesOthers = !onlyMultiplies(loop, loads);
    return machine.sharedBytes - slotAlignment - (stagesOthers ? mostStagedBytes : 0);
  }

  const NvidiaMachine machine;
  int64_t copyBytes = 0;
};

} // namespace

std::unique_ptr<Pass> createPipelineLoopsPass(const NvidiaMachine &machine) {
  return std::make_unique<PipelineLoopsPass>(machine);
}

} // namespace nereid::nvidia
