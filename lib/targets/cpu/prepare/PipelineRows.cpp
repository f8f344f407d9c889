// SPDX-License-Identifier: Apache-2.0
// cpu-pipeline-rows: delay the last store of a row until the next row is computed, so that one lane
// loop writes row r - 1 beside the arithmetic and the reads of row r.
//
// Why: a row that is reduced has passes that only read, only compute or only write; memory rests in
// the second and half of it in the others.
// Requires: a loop whose body reduces rank-1 tiles and ends in a store past the caches, and nests
// that can take the delayed store (DelayedStores.h).
// Guarantees: every access happens that happened before. A row's store stays where it was when the
// next row may access the same bytes, when it is the last one, and when it is not aligned.
// Example, softmax (`before` is the row before):
//   for row: { e = exp(x[row] - max) ; store out[row], e / sum }
//   for row with before_e, before_sum, pending = false:
//     e = exp(x[row] - max)
//     if pending: store out[row - 1], before_e / before_sum      (joins the loop of e)
//     now = row is the last or out[row] overlaps x[row + 1] or is not aligned
//     if now: store out[row], e / sum
//     yield e, sum, not now
// Where registers are many, a quarter of the row is stored in the row's first nest, so that memory
// does not rest there; not of rows that the store computes from tensors again. The body's
// operations are split in two: what the store alone needs (repeated for the row before and inside
// the branch that stores at once) and everything else, which stays.
#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/lower/KernelState.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/nest/DelayedStores.h"
#include "lib/targets/cpu/lower/nest/NonTemporal.h"
#include "lib/targets/cpu/prepare/Passes.h"
#include "lib/targets/cpu/prepare/RowRanges.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"

#include <vector>

using namespace mlir;

namespace nereid::cpu {

namespace {

/// Shorter rows are over before the processor has looked through them: it overlaps them by itself.
constexpr int64_t leastRowBytes = 2048;

/// Cost (see FusionPlan) of what is computed for four bytes of the row. With less, reading, which
/// is prefetched beside the store, is all there is to overlap: RMS norm of 4096 float32 reaches 99
/// GB/s where it does not wait and 82 where it does; of bfloat16, whose conversions count, 66
/// and 78.
constexpr int64_t leastArithmetic = 16;

/// The only store of the loop's body that could be delayed.
tile::StoreOp findStore(scf::ForOp loop, const Machine &machine) {
  tile::StoreOp found;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto store = dyn_cast<tile::StoreOp>(op); store && isTile(store.getPointer())) {
      if (found) {
        return {};
      }
      found = store;
    } else if (tile::hasSideEffects(&op) && !isa<tile::StoreOp>(op)) {
      return {};
    }
    if (op.getNumRegions() != 0 && !isa<tile::ReduceOp>(op)) {
      return {};
    }
  }
  // In large launches plain stores go past the caches as well; a loop over programs knows the size.
  if (!found || (found.getCache() != tile::CacheModifier::CS && !tile::isCoarsenedLoop(loop)) ||
      !machine.hasNonTemporalStores || shapeOf(found.getPointer()).size() != 1 ||
      isPointerTile(found.getValue())) {
    return {};
  }
  int64_t bytes = shapeOf(found.getPointer())[0] *
                  KernelState::byteSize(KernelState::memoryType(elementTypeOf(found.getValue())));
  return bytes >= leastRowBytes ? found : tile::StoreOp();
}

class Pipeline {
public:
  Pipeline(scf::ForOp loop, tile::StoreOp store, const FusionPlan &plan, const TileAxes &axes,
           const Machine &machine, bool isShared)
      : loop(loop), store(store), plan(plan), ranges(loop, axes), machine(machine),
        isShared(isShared), axes(axes) {}

  bool plans();
  void rewrite();

private:
  bool isPlain() { return store.getCache() != tile::CacheModifier::CS; }
  bool isInside(Value value) { return loop.getRegion().isAncestor(value.getParentRegion()); }
  bool visit(Value value);
  bool hasArithmetic();
  void cloneLate(OpBuilder &builder, IRMapping &mapping);
  void storeRowBefore(OpBuilder &builder, Value pending, const IRMapping &before, DelayedPart part);
  /// An i1: the launch is too small for a plain store to go past the caches.
  Value isSmallLaunch(OpBuilder &builder);

  scf::ForOp loop;
  tile::StoreOp store;
  const FusionPlan &plan;
  RowRanges ranges;
  const Machine &machine;
  bool isShared;
  const TileAxes &axes;
  tile::ReduceOp first;
  tile::ReduceOp last;               ///< whose nest the store joins
  llvm::SetVector<Operation *> late; ///< what the store reads, in order, up to what is carried
  llvm::DenseSet<Operation *> early; ///< what stays, because something else than the store reads it
  llvm::SetVector<Value> carried;
  SmallVector<RowRange> accesses; ///< of the next row, made before the delayed store
  RowRange stored;
};

/// Sorts what the store needs into operations to repeat and values to carry.
bool Pipeline::visit(Value value) {
  if (!isInside(value) || value == loop.getInductionVar() || carried.contains(value)) {
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    return false; // the loop carries something of its own
  }
  if (!isTile(value)) {
    if (!ranges.dependsOnRowOnly(value)) {
      carried.insert(value);
      return value.getType().isIntOrFloat();
    }
  } else if (plan.isMaterialised(value)) {
    carried.insert(value);
    return true;
  } else if (isa<tile::LoadOp>(op) && axes.isUniformEverywhere(op->getOperand(0))) {
    return false; // read once for the row, and then outside of the branch
  } else if (isa<tile::ReduceOp, tile::DotOp>(op) || isCrossLane(op) || op->getNumRegions() != 0) {
    return false;
  }
  for (Value operand : op->getOperands()) {
    if (!visit(operand)) {
      return false;
    }
  }
  late.insert(op);
  return true;
}

bool Pipeline::hasArithmetic() {
  int64_t cost = plan.cost(store.getValue());
  for (auto reduce : loop.getBody()->getOps<tile::ReduceOp>()) {
    for (Value source : reduce.getSources()) {
      cost += plan.cost(source);
    }
  }
  return cost * 4 >= leastArithmetic * stored.elementBytes;
}

bool Pipeline::plans() {
  if (!loop.getInitArgs().empty() || (isPlain() && !mayBeNonTemporal(store, plan, machine))) {
    return false;
  }
  for (Value operand : store->getOperands()) {
    if (!visit(operand)) {
      return false;
    }
  }
  for (auto reduce : loop.getBody()->getOps<tile::ReduceOp>()) {
    if (reduce->isBeforeInBlock(store) &&
        shapeOf(reduce.getSources()[0]) == shapeOf(store.getPointer())) {
      first = first ? first : reduce;
      last = reduce;
    }
  }
  for (Operation &op : llvm::reverse(loop.getBody()->without_terminator())) {
    bool isEarly = !late.contains(&op) || llvm::any_of(op.getUsers(), [&](Operation *user) {
      return early.contains(user);
    });
    if (isEarly && &op != store.getOperation()) {
      early.insert(&op);
    }
  }
  std::optional<RowRange> range = ranges.of(store.getPointer(), store.getMask());
  if (!last || !range) {
    return false;
  }
  stored = *range;
  if (!hasArithmetic()) {
    return false;
  }
  Value base = plan.memory().argumentOf(store.getPointer());
  for (Operation &op : loop.getBody()->without_terminator()) {
    Value pointer, mask;
    bool isEarly = true;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      pointer = load.getPointer(), mask = load.getMask();
      isEarly = early.contains(&op);
      if (load.getIsVolatile()) {
        return false;
      }
    } else if (auto other = dyn_cast<tile::StoreOp>(op); other && other != store) {
      pointer = other.getPointer(), mask = other.getMask();
    }
    if (!pointer || !isEarly) {
      continue;
    }
    // One base: the two cannot share a nest.
    std::optional<RowRange> access = ranges.of(pointer, mask);
    if (!access || !base || plan.memory().argumentOf(pointer) == base) {
      return false;
    }
    accesses.push_back(*access);
  }
  return true;
}

void Pipeline::cloneLate(OpBuilder &builder, IRMapping &mapping) {
  for (Operation *op : late) {
    builder.clone(*op, mapping);
  }
}

void Pipeline::storeRowBefore(OpBuilder &builder, Value pending, const IRMapping &before,
                              DelayedPart part) {
  auto branch = builder.create<scf::IfOp>(store.getLoc(), pending, false);
  branch->setAttr(attribute::delayedStore, builder.getI32IntegerAttr(static_cast<int32_t>(part)));
  IRMapping mapping(before);
  cast<tile::StoreOp>(branch.getThenBodyBuilder().clone(*store, mapping))
      .setCache(tile::CacheModifier::CS);
}

Value Pipeline::isSmallLaunch(OpBuilder &builder) {
  Location loc = store.getLoc();
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value programs;
  for (unsigned axis = 0; axis < 3; ++axis) {
    Value count = builder.create<tile::NumProgramsOp>(loc, i32, axis);
    count = builder.create<arith::ExtUIOp>(loc, i64, count);
    programs = programs ? builder.create<arith::MulIOp>(loc, programs, count) : count;
  }
  Value least = builder.create<arith::ConstantOp>(
      loc, builder.getI64IntegerAttr(leastNonTemporalPrograms(store, machine)));
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, programs, least);
}

void Pipeline::rewrite() {
  Location loc = store.getLoc();
  OpBuilder outside(loop);
  SmallVector<Value> initial;
  for (Value value : carried) {
    initial.push_back(outside.create<arith::ConstantOp>(
        loc, cast<TypedAttr>(outside.getZeroAttr(value.getType()))));
  }
  Value no = outside.create<arith::ConstantOp>(loc, outside.getBoolAttr(false));
  initial.push_back(no);
  Value isSmall = isPlain() ? isSmallLaunch(outside) : Value();
  auto pipelined = outside.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(),
                                              loop.getUpperBound(), loop.getStep(), initial);
  pipelined->setAttr(attribute::pipelinedRows, outside.getUnitAttr());
  Block *body = pipelined.getBody();
  if (!body->empty()) {
    body->getTerminator()->erase();
  }
  IRMapping now;
  now.map(loop.getInductionVar(), pipelined.getInductionVar());
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  Value row = pipelined.getInductionVar(), pending = pipelined.getRegionIterArgs().back();
  IRMapping before;
  before.map(loop.getInductionVar(), builder.create<arith::SubIOp>(loc, row, loop.getStep()));
  for (auto [value, argument] : llvm::zip(carried, pipelined.getRegionIterArgs())) {
    before.map(value, argument);
  }
  cloneLate(builder, before);
  for (Operation &op : *body) {
    op.setAttr(attribute::rowBefore, builder.getUnitAttr());
  }
  // What the store loads again would be brought into the first level by both nests.
  bool hasParts = isShared && first != last &&
                  KernelState::byteSize(elementTypeOf(store.getValue())) > 1 &&
                  llvm::none_of(late, [](Operation *op) { return isa<tile::LoadOp>(op); });
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (early.contains(&op)) {
      builder.clone(op, now);
    }
    if (hasParts && &op == first.getOperation()) {
      storeRowBefore(builder, pending, before, DelayedPart::First);
    }
    if (&op == last.getOperation()) {
      storeRowBefore(builder, pending, before, hasParts ? DelayedPart::Rest : DelayedPart::All);
    }
  }
  // Whether this row can wait. The distance to the end cannot wrap: it is positive.
  Value left = builder.create<arith::SubIOp>(loc, loop.getUpperBound(), row);
  Value atOnce =
      builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, left, loop.getStep());
  auto also = [&](Value condition) {
    atOnce = builder.create<arith::OrIOp>(loc, atOnce, condition);
  };
  if (isSmall) {
    also(isSmall);
  }
  RowRanges::Bytes written = ranges.emit(builder, loc, stored, row);
  also(ranges.isUnaligned(builder, loc, written, machine.vectorBytes));
  Value next = builder.create<arith::AddIOp>(loc, row, loop.getStep());
  for (const RowRange &access : accesses) {
    also(ranges.overlap(builder, loc, written, ranges.emit(builder, loc, access, next)));
  }
  auto branch = builder.create<scf::IfOp>(loc, atOnce, false);
  OpBuilder inside = branch.getThenBodyBuilder();
  IRMapping here(now);
  cloneLate(inside, here);
  auto stays = cast<tile::StoreOp>(inside.clone(*store, here));
  if (isSmall) {
    keepInCaches(stays);
  }
  Value yes = builder.create<arith::ConstantOp>(loc, builder.getBoolAttr(true));
  SmallVector<Value> yielded;
  for (Value value : carried) {
    yielded.push_back(now.lookup(value));
  }
  yielded.push_back(builder.create<arith::XOrIOp>(loc, atOnce, yes));
  builder.create<scf::YieldOp>(loc, yielded);
  loop.erase();
}

/// A copy of the kernel in which rows are pipelined; null when no loop allows it. Loops that do not
/// are told when `isFirst`.
OwningOpRef<func::FuncOp> pipelined(func::FuncOp kernel, const Machine &machine, bool isShared,
                                    bool isFirst) {
  OwningOpRef<func::FuncOp> copy(kernel.clone());
  TileAxes axes;
  axes.analyse(*copy);
  FusionPlan plan(axes);
  plan.analyse(*copy);
  std::vector<Pipeline> pipelines;
  copy->walk([&](scf::ForOp loop) {
    if (tile::StoreOp store = findStore(loop, machine)) {
      Pipeline pipeline(loop, store, plan, axes, machine, isShared);
      if (pipeline.plans()) {
        pipelines.push_back(std::move(pipeline));
      } else if (isFirst) {
        decline(Recogniser::RowPipeline, store,
                "the next row may not be read, or too little is computed, before it is stored");
      }
    }
  });
  for (Pipeline &pipeline : pipelines) {
    pipeline.rewrite();
  }
  return pipelines.empty() ? OwningOpRef<func::FuncOp>() : std::move(copy);
}

class PipelineRowsPass : public PassWrapper<PipelineRowsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PipelineRowsPass)

  explicit PipelineRowsPass(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "cpu-pipeline-rows"; }
  StringRef getDescription() const override {
    return "delay the last store of a row until the next row is computed";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect, CpuDialect>();
  }

  void runOnOperation() override {
    func::FuncOp kernel = findKernel(getOperation());
    if (!kernel || !hasCandidate(kernel)) {
      return;
    }
    const bool mayShare = machine.vectorRegisters >= 32;
    std::string why;
    for (bool isShared : {true, false}) {
      if (isShared && !mayShare) {
        continue;
      }
      OwningOpRef<func::FuncOp> rows =
          pipelined(kernel, machine, isShared, /*isFirst=*/isShared == mayShare);
      if (!rows) {
        return;
      }
      why = whyRowsAreRefused(*rows, machine);
      if (why.empty()) {
        countFired(Recogniser::RowPipeline);
        kernel.getBody().takeBody(rows->getBody());
        return;
      }
    }
    decline(Recogniser::RowPipeline, kernel, why);
  }

private:
  bool hasCandidate(func::FuncOp kernel) const {
    return kernel
        .walk([&](scf::ForOp loop) {
          return findStore(loop, machine) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  Machine machine;
};

} // namespace

std::unique_ptr<Pass> createPipelineRowsPass(const Machine &machine) {
  return std::make_unique<PipelineRowsPass>(machine);
}

} // namespace nereid::cpu
