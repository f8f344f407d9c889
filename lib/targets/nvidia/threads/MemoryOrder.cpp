// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/threads/MemoryOrder.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/analysis/TurnSteps.h"

#include "llvm/ADT/SetVector.h"

#include <unordered_map>

using namespace mlir;

namespace nereid::nvidia {
namespace {

struct Access {
  Value pointer, base; ///< base: the kernel's argument, null where it is not known
  std::optional<layout::LinearLayout> layout;
  bool isWrite = false;
  Operation *op = nullptr;
};

class Walk {
public:
  Walk(Operation *kernel, const tile::AxisInfos &axes) : axes(axes) {
    arguments.find(kernel);
    block(kernel->getRegion(0).front());
  }

  llvm::DenseSet<Operation *> barriers;

private:
  void block(Block &block) {
    for (Operation &op : block) {
      visit(&op);
    }
  }

  void visit(Operation *op) {
    if (isa<tile::BarrierOp, BeginCopiesOp, EndCopiesOp>(op)) {
      since.clear();
      return;
    }
    if (isa<WaitCopiesOp>(op)) { // a barrier for all but copies, of which some go on
      since.remove_if([](Operation *other) { return !isa<AsyncCopyOp>(other); });
      return;
    }
    if (Value pointer = accessedThrough(op)) {
      access(op, pointer);
      return;
    }
    if (isa<tile::ReduceOp, tile::ScanOp>(op)) {
      return;
    }
    if (isa<scf::IfOp>(op)) {
      const auto before = since;
      auto after = before;
      for (Region &region : op->getRegions()) {
        since = before;
        if (!region.empty()) {
          block(region.front());
        }
        after.insert(since.begin(), since.end());
      }
      since = std::move(after);
      return;
    }
    if (op->getNumRegions() > 0 && !isLaterTurn && meetsWhatWasBefore(op)) {
      barriers.insert(op); // once, not in each turn
      since.clear();
    }
    // Loops: once more behind what a turn has left.
    const bool isInLaterTurn = isLaterTurn;
    for (int turn = 0; turn < 2 && op->getNumRegions() > 0; ++turn) {
      const auto before = since;
      for (Region &region : op->getRegions()) {
        block(region.front());
      }
      since.insert(before.begin(), before.end());
      isLaterTurn = true;
    }
    isLaterTurn = isInLaterTurn;
  }

  /// Null where the operation accesses no memory of the kernel's arguments.
  static Value accessedThrough(Operation *op) {
    auto copy = dyn_cast<AsyncCopyOp>(op);
    return copy ? copy.getPointer() : tile::accessedThrough(op);
  }

  Access accessOf(Operation *op, Value pointer) const {
    Access made = {pointer, arguments.argumentOf(pointer), std::nullopt,
                   !isa<tile::LoadOp, AsyncCopyOp>(op), op};
    // A copy reads at some time until it is waited for: not even its own thread's order holds.
    if (isTile(pointer) && !isa<AsyncCopyOp>(op)) {
      made.layout = layoutOf(pointer);
    }
    return made;
  }

  bool meetsAny(const Access &mine) const {
    return llvm::any_of(since, [&](Operation *other) { return mayMeet(mine, accesses.at(other)); });
  }

  void access(Operation *op, Value pointer) {
    const Access &mine = accesses[op] = accessOf(op, pointer);
    if (meetsAny(mine)) {
      barriers.insert(op);
      since.clear();
    }
    since.insert(op);
  }

  /// Whether something in the loop would have to wait for what stands in front of it.
  bool meetsWhatWasBefore(Operation *loop) const {
    if (since.empty()) {
      return false;
    }
    return loop
        ->walk([&](Operation *op) {
          const Value pointer = accessedThrough(op);
          return pointer && meetsAny(accessOf(op, pointer)) ? WalkResult::interrupt()
                                                            : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Whether two threads may touch one address, one of them writing.
  bool mayMeet(const Access &mine, const Access &other) const {
    if (!mine.isWrite && !other.isWrite) {
      return false;
    }
    const bool sameThread = touchByOneThread(mine, other);
    if (mine.base && other.base && mine.base != other.base) {
      // Two arguments may be one tensor, of which tiles share elements at one position alone.
      return !sameThread && countOf(mine.pointer) == countOf(other.pointer);
    }
    // The same addresses, each touched by the thread that touched it before.
    const bool isMovedOn = mine.op->getBlock() == other.op->getBlock() &&
                           tile::isSameValue(mine.pointer, other.pointer) && movesOn(mine);
    return (isLaterTurn && !isMovedOn) || !sameThread ||
           arguments.mayConflict(mine.pointer, other.pointer, [&](Value pointer) {
             return llvm::any_of(axes.of(pointer).axes, [](const tile::AxisRun &run) {
               return run.size > 1 && (!run.isWhole() || run.isConstant());
             });
           });
  }

  /// Whether each turn of the only loop around touches a piece of memory that no other turn does.
  bool movesOn(const Access &mine) const {
    auto loop = dyn_cast<scf::ForOp>(mine.op->getParentOp());
    if (!loop || !isTile(mine.pointer) || loop->getParentOfType<LoopLikeOpInterface>()) {
      return false;
    }
    int64_t length = 1; // in neighbours
    for (const tile::AxisRun &run : axes.of(mine.pointer).axes) {
      if (run.size > 1 && (length > 1 || !run.isWhole() || run.stride != 1)) {
        return false;
      }
      length = std::max(length, run.size);
    }
    const auto added = tile::addedPerTurn(mine.pointer, loop);
    return added && std::abs(*added) >= length;
  }

  /// Whether what stands at one position of both tiles is held by one thread, the same for both.
  /// All threads load a scalar, and one stores it.
  static bool touchByOneThread(const Access &mine, const Access &other) {
    return mine.layout && mine.layout == other.layout &&
           mine.layout->replicaBits(layout::Holder::Lane) == 0 &&
           mine.layout->replicaBits(layout::Holder::Warp) == 0;
  }

  static int64_t countOf(Value pointer) {
    return isTile(pointer) ? cast<RankedTensorType>(pointer.getType()).getNumElements() : 1;
  }

  const tile::AxisInfos &axes;
  tile::MemoryAccesses arguments;
  std::unordered_map<Operation *, Access> accesses;
  llvm::SetVector<Operation *> since; ///< those since the last barrier
  bool isLaterTurn = false;
};

} // namespace

llvm::DenseSet<Operation *> accessesBehindBarriers(Operation *kernel, const tile::AxisInfos &axes) {
  return std::move(Walk(kernel, axes).barriers);
}

} // namespace nereid::nvidia
