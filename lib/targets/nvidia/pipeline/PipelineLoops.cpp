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
// Factors of theirs that no turn changes lie in slots of their own, filled in front of the loop.
// Example, with three slots:
//   for i { a = load(p + i) ; acc = dot(a, …) }
// becomes
//   begin ; for t in 0, 1 { async_copy p + t when t is a turn ; commit }
//   for i { wait 1 ; async_copy p + i + 2 when that is a turn ; commit ; acc = dot(read_copy, …) }
//   end
#include "lib/targets/nvidia/explain/Names.h"
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/occupancy/Occupancy.h"
#include "lib/targets/nvidia/pipeline/CarriedTiles.h"
#include "lib/targets/nvidia/pipeline/Declined.h"
#include "lib/targets/nvidia/pipeline/NeighbourLoops.h"
#include "lib/targets/nvidia/pipeline/Passes.h"
#include "lib/targets/nvidia/pipeline/PipelinedLoop.h"
#include "lib/targets/nvidia/pipeline/StagedLoads.h"
#include "lib/targets/nvidia/pipeline/WarpgroupProducts.h"
#include "lib/targets/nvidia/threads/Staging.h"
#include "lib/tile/ir/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

/// Of slots, where the source does not say: more keep a second program off the processor.
constexpr int64_t usualStages = 3;
constexpr int64_t mostStages = 32; // of a loop: more hide no more of what a copy takes

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
        loads.push_back(stagedLoadsOf(loop, accesses, machine.hasWarpgroups));
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
        if (failed(pipeline(other->loop, other->loads, axes))) {
          return signalPassFailure();
        }
      }
      if (failed(pipeline(loop, list, axes))) {
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
  bool hasCopies(scf::ForOp loop, const tile::MemoryAccesses &accesses) const {
    if (stagesOf(loop) < 2) {
      declineLoop(loop, loop, "num_stages is " + Twine(stagesOf(loop)));
    } else if (!hasUsualStep(loop)) {
      declineLoop(loop, loop, "the step of the loop is no constant from 1 to 2^20 - 1");
    } else if (Operation *found = keepsTurnsApart(loop, accesses)) {
      declineTurns(loop, found);
    } else if (stagedLoadsOf(loop, accesses, machine.hasWarpgroups).empty()) {
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
    int64_t best = 0;
    bool takesNeighbours = false;
    auto consider = [&](Value pointer, bool isNeighbours) {
      if (const CopiedVector vector = vectorOf(pointer, axes); vector.bytes > best) {
        best = vector.bytes;
        one.fastest = vector.fastest;
        takesNeighbours = isNeighbours;
      }
    };
    consider(one.load.getPointer(), false);
    if (one.neighbours) {
      consider(one.neighbours->tile, true);
      if (!takesNeighbours) {
        one.neighbours.reset();
      }
    }
    return best >= leastCopiedBytes;
  }

  LogicalResult pipeline(scf::ForOp loop, SmallVector<StagedLoad> &loads,
                         const tile::AxisInfos &axes) {
    Slice slice;
    llvm::erase_if(loads, [&](const StagedLoad &one) {
      const bool isAdded = addCopy(slice, loop, one);
      if (!isAdded) {
        declineLoop(loop, one.load, "where it lies is only known in its own turn of the loop");
      }
      return !isAdded;
    });
    const size_t all = loads.size();
    keepBytesOfWarpgroups(loads, threadsOf(getOperation()));
    if (loads.size() < all) {
      declineLoop(loop, loop,
                  "operands of bytes are for warpgroups alone, which cannot make all "
                  "products of these blocks");
    }
    const int64_t room = roomFor(loop, loads);
    const int64_t said = loads.empty() ? 0 : stagesOf(loop);
    const int64_t asked = std::min(said, mostStages);
    int64_t stages = asked;
    while (stages > 1 && placeSlots(loads, {}, stages) > room) {
      --stages;
    }
    // Upstream has a slot less for as many stages, so that its configs may fit by that alone.
    if (saidStages(loop) && stages < asked - 1) {
      return refuseStages(loop, loads, {said, placeSlots(loads, {}, said), room, stages + 1},
                          machine);
    }
    if (stages < 2) {
      if (!loads.empty()) {
        declineLoop(loop, loop,
                    "two turns of " + Twine(placeSlots(loads, {}, 1)) +
                        " bytes are more than the " + Twine(room) +
                        " bytes of shared memory that are left");
      }
      return success();
    }
    LoopPlan plan{loads, {}, stages};
    if (machine.hasWarpgroups) {
      const Threads threads = threadsOf(getOperation());
      plan.held = heldFactorsOf(loop, loads, threads, axes);
      fitHeld(plan, std::max<int64_t>(2, asked - 1), room);
      if (!saidStages(loop)) {
        makePlaceForPrograms(loop, plan);
      }
      plan.deferred = markWarpgroupProducts(loop, loads, plan.held, threads);
      plan.isForWarpgroups = llvm::any_of(
          *loop.getBody(), [](Operation &op) { return op.hasAttr(warpgroupAttribute); });
    }
    if (plan.stages < asked && placeSlots(plan.loads, plan.held, asked) > room) {
      emitRemark(loop.getLoc()) << "operands of products are copied ahead in " << plan.stages
                                << " stages: " << asked << " take "
                                << placeSlots(plan.loads, plan.held, asked)
                                << " bytes of shared memory, and " << room << " are left [R0404]";
    } else if (asked < said) {
      emitRemark(loop.getLoc()) << "operands of products are copied ahead in " << plan.stages
                                << " stages: " << said << " are asked for, and a loop has "
                                << mostStages << " at most [R0404]";
    }
    copyBytes = std::max(copyBytes, placeSlots(plan.loads, plan.held, plan.stages));
    pipelineLoop(loop, std::move(plan));
    return success();
  }

  /// Makes room for the factors that the loop holds: by a stage less, but not fewer than `least`;
  /// those that have no room even then stay in registers, the last ones first.
  static void fitHeld(LoopPlan &plan, int64_t least, int64_t room) {
    while (!plan.held.empty()) {
      for (int64_t stages = plan.stages; stages >= least; --stages) {
        if (placeSlots(plan.loads, plan.held, stages) <= room) {
          plan.stages = stages;
          return;
        }
      }
      const HeldFactor factor = plan.held.pop_back_val();
      emitRemark(factor.tile.getLoc())
          << tileName(factor.tile) << " stays in registers where products of a loop need it: "
          << "beside " << least << " stages of operands that are copied ahead, shared memory has "
          << "no room for its " << factor.bytes() << " bytes [R0404]";
    }
  }

  /// Takes a stage less beside held factors where that lets more programs run at a time, of which
  /// one multiplies while another one waits.
  void makePlaceForPrograms(scf::ForOp loop, LoopPlan &plan) {
    const auto programs = [&](int64_t stages) {
      runtime::FunctionResources resources;
      resources.registers = 255; // what loops with so many sums take
      const int64_t bytes = placeSlots(plan.loads, plan.held, stages) + slotAlignment;
      return occupancy(*multiprocessorOf(machine.capability), resources,
                       Threads::lanes * threadsOf(getOperation()).warps,
                       bytes + exchangedBytes(loop, plan))
          .programs;
    };
    if (plan.held.empty() || plan.stages < 3 ||
        programs(plan.stages - 1) <= programs(plan.stages)) {
      return;
    }
    --plan.stages;
    emitRemark(loop.getLoc()) << "operands of products are copied ahead in " << plan.stages
                              << " stages: one more leaves room for fewer programs at a time "
                              << "[R0404]";
  }

  /// Bytes of the largest left operand that threads exchange, as it is computed in the loop.
  static int64_t exchangedBytes(scf::ForOp loop, const LoopPlan &plan) {
    int64_t most = 0;
    for (auto dot : loop.getBody()->getOps<tile::DotOp>()) {
      if (!loop.isDefinedOutsideOfLoop(rootOf(dot.getA())) &&
          !fastestInSlot(dot.getA(), plan.loads, plan.held)) {
        auto type = cast<RankedTensorType>(dot.getA().getType());
        most = std::max(most, type.getNumElements() * type.getElementTypeBitWidth() / 8);
      }
    }
    return most;
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
