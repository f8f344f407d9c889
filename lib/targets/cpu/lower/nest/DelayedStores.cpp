// SPDX-License-Identifier: Apache-2.0
// Collects the nests of each pipelined loop as the lowering will, and plans those that share a
// delayed store.
#include "lib/targets/cpu/lower/nest/DelayedStores.h"

#include "lib/targets/cpu/lower/nest/Combiner.h"
#include "lib/targets/cpu/lower/plan/NestCollector.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::cpu {

std::optional<SmallVector<Value>> masksOfSharedRows(ArrayRef<FusionRoot> roots,
                                                    const LanePlan &plan) {
  bool fits = plan.unroll == sharedCopies && plan.remainders.empty() && plan.runtimeStrides.empty();
  for (const FusionRoot &root : roots) {
    fits &= root.kind != FusionRoot::Kind::Reduce ||
            !Combiner(cast<tile::ReduceOp>(root.op)).identity().empty();
  }
  if (!fits) {
    return std::nullopt;
  }
  llvm::SmallSetVector<Value, 4> masks;
  for (const auto &[mask, dims] : plan.masks) {
    masks.insert(mask);
  }
  return SmallVector<Value>(masks.begin(), masks.end());
}

bool areSameMasks(ArrayRef<Value> masks, ArrayRef<Value> others) {
  return masks.size() == others.size() &&
         llvm::all_of(masks, [&](Value mask) { return llvm::is_contained(others, mask); });
}

namespace {

int allocateWhole(KernelState &state, Value tile) {
  auto counted = tile.getDefiningOp<tile::HistogramOp>();
  return counted ? state.allocate({histogramEntries(counted)}, elementTypeOf(tile), tile.getLoc())
                 : state.allocate(shapeOf(tile), elementTypeOf(tile), tile.getLoc());
}

class PipelinedRows {
public:
  PipelinedRows(KernelState &state, scf::ForOp rows)
      : state(state), rows(rows),
        collector(state.plan, [this](ArrayRef<FusionRoot> roots) { complete(roots); }) {}

  std::string whyRefused() {
    for (auto [argument, value] : llvm::zip(rows.getRegionIterArgs(), rows.getYieldedValues())) {
      if (isTile(argument)) {
        carried[value] = state.buffers[argument] =
            state.allocate(shapeOf(argument), elementTypeOf(argument), rows.getLoc());
      }
    }
    for (Operation &op : rows.getBody()->without_terminator()) {
      visit(op);
    }
    collector.flush();
    return why;
  }

private:
  void visit(Operation &op) {
    auto store = dyn_cast<tile::StoreOp>(op);
    if (store && isTile(store.getPointer())) {
      collector.add({FusionRoot::Kind::Store, &op, nullptr, -1, false});
    } else if (isa<tile::ReduceOp>(op)) {
      collector.add({FusionRoot::Kind::Reduce, &op, nullptr, -1, false});
    } else if (isDelayedStore(&op)) {
      FusionRoot root{FusionRoot::Kind::Store, &op.getRegion(0).front().front(), nullptr, -1,
                      false};
      root.part = delayedPart(&op);
      refuse(collector.addDelayedStore(root));
    } else if (store || op.getNumRegions() != 0 || isCrossLane(&op) || tile::isAtomic(&op) ||
               isa<tile::DotOp, tile::BarrierOp, tile::PrintOp, tile::AssertOp>(op)) {
      collector.flush();
      holdWholeTiles(op);
    } else if (op.getNumResults() != 0 && isTile(op.getResult(0))) {
      for (Value tile : op.getResults()) {
        if (state.plan.isMaterialised(tile)) {
          materialise(tile);
        }
      }
    } else {
      collector.flushBefore(op);
    }
  }

  /// An operation that is no nest works on whole tiles in scratch: those it writes, and those it
  /// reads where they are not there yet in the type that it computes in.
  void holdWholeTiles(Operation &op) {
    auto product = dyn_cast<tile::DotOp>(op);
    for (Value operand : op.getOperands()) {
      const bool isReadWhole = isTile(operand) && (product || isCrossLane(&op));
      const bool isConverted =
          product && elementTypeOf(operand) != elementTypeOf(product.getResult());
      if (isReadWhole && (isConverted || !state.buffers.count(operand))) {
        (void)allocateWhole(state, operand);
      }
    }
    for (Value result : op.getResults()) {
      if (isTile(result)) {
        state.buffers[result] = allocateWhole(state, result);
      }
    }
  }

  void materialise(Value tile) {
    if (tile.getDefiningOp()->hasAttr(attribute::rowBefore)) {
      refuse("a tile of the row before is computed once for several nests");
    }
    collector.makeRoomFor(tile);
    FusionRoot root{FusionRoot::Kind::Materialise, nullptr, tile, -1, false};
    auto buffer = carried.find(tile);
    Type stored = state.plan.storageType(tile);
    root.target =
        buffer != carried.end()
            ? buffer->second
            : state.allocate(shapeOf(tile), stored ? stored : elementTypeOf(tile), tile.getLoc());
    collector.addMaterialised(root);
  }

  /// What the nest computes is in scratch from here on.
  void complete(ArrayRef<FusionRoot> roots) {
    for (const FusionRoot &root : roots) {
      if (root.part != DelayedPart::All) {
        plan(roots, root.part);
      }
    }
    for (const FusionRoot &root : roots) {
      if (root.kind == FusionRoot::Kind::Materialise) {
        state.buffers[root.value] = root.target;
      } else if (root.kind == FusionRoot::Kind::Reduce && root.shape().size() > 1) {
        for (Value result : root.op->getResults()) {
          state.buffers[result] =
              state.allocate(shapeOf(result), elementTypeOf(result), rows.getLoc());
        }
      }
    }
  }

  void plan(ArrayRef<FusionRoot> roots, DelayedPart part) {
    std::optional<SmallVector<Value>> masks = masksOfSharedRows(roots, planLanes(state, roots));
    if (!masks || (part == DelayedPart::Rest && !areSameMasks(*masks, first))) {
      refuse("its first and its last nest do not walk the row alike");
    } else if (part == DelayedPart::First) {
      first = *masks;
    }
  }

  void refuse(std::string_view reason) {
    if (why.empty()) {
      why = reason;
    }
  }

  KernelState &state;
  scf::ForOp rows;
  NestCollector collector;
  llvm::DenseMap<Value, int> carried; ///< yielded tile -> buffer
  SmallVector<Value> first;           ///< masks of the nest that takes the first part
  std::string why;
};

} // namespace

std::string whyRowsAreRefused(func::FuncOp kernel, const Machine &machine) {
  Diagnostics unused; // nothing is emitted that could be refused
  KernelState state(machine, unused);
  state.analyse(kernel);
  // What is in scratch when a loop is reached; more than that takes no place at any time.
  auto allocate = [&](Value value) {
    if (isTile(value) && state.plan.isStored(value)) {
      state.buffers[value] = allocateWhole(state, value);
    }
  };
  SmallVector<scf::ForOp> loops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->hasAttr(attribute::pipelinedRows)) {
      loops.push_back(loop);
      return WalkResult::skip();
    }
    if (isa<tile::ReduceOp, tile::ScanOp>(op)) {
      llvm::for_each(op->getResults(), allocate);
      return WalkResult::skip();
    }
    llvm::for_each(op->getResults(), allocate);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      llvm::for_each(loop.getRegionIterArgs(), allocate);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      llvm::for_each(loop.getBeforeArguments(), allocate);
      llvm::for_each(loop.getAfterArguments(), allocate);
    }
    return WalkResult::advance();
  });
  for (scf::ForOp loop : loops) {
    if (std::string why = PipelinedRows(state, loop).whyRefused(); !why.empty()) {
      return why;
    }
  }
  if (static_cast<uint64_t>(state.scratchPeak()) > machine.scratchLimitBytes) {
    return "the tiles of two rows may need " + std::to_string(state.scratchPeak()) +
           " bytes of scratch memory, but the limit is " +
           std::to_string(machine.scratchLimitBytes);
  }
  return {};
}

} // namespace nereid::cpu
