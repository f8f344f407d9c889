// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/threads/MemoryOrder.h"

#include "lib/targets/nvidia/ir/Nvidia.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

/// An access since the last barrier.
struct Access {
  Value pointer, base; ///< base: the kernel's argument, null where it is not known
  std::optional<layout::LinearLayout> layout;
  bool isWrite = false;
};

/// The argument that an address is made of.
Value baseOf(Value pointer) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(pointer)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (isa<func::FuncOp>(parent)) {
        return argument;
      }
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (!loop) {
        return nullptr;
      }
      pointer = loop.getInitArgs()[argument.getArgNumber() - 1];
      continue;
    }
    Operation *op = pointer.getDefiningOp();
    if (!isa<tile::AddPtrOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
             tile::TransOp, tile::PtrCastOp, tile::UnsplatOp, ConvertLayoutOp>(op)) {
      return nullptr;
    }
    pointer = op->getOperand(0);
  }
}

class Walk {
public:
  llvm::DenseSet<Operation *> barriers;

  void block(Block &block) {
    for (Operation &op : block) {
      visit(&op);
    }
  }

private:
  void visit(Operation *op) {
    if (isa<tile::BarrierOp>(op)) {
      since.clear();
      return;
    }
    if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(op)) {
      access(op);
      return;
    }
    if (isa<tile::ReduceOp, tile::ScanOp>(op)) {
      return;
    }
    if (isa<scf::IfOp>(op)) {
      const auto before = since;
      SmallVector<Access> after = before;
      for (Region &region : op->getRegions()) {
        since = before;
        if (!region.empty()) {
          block(region.front());
        }
        after.append(since.begin(), since.end());
      }
      since = std::move(after);
      return;
    }
    // Loops: once more behind what a turn has left.
    for (int turn = 0; turn < 2 && op->getNumRegions() > 0; ++turn) {
      const auto before = since;
      for (Region &region : op->getRegions()) {
        block(region.front());
      }
      since.append(before.begin(), before.end());
      if (turn == 0) {
        isLaterTurn = true;
      }
    }
    isLaterTurn = false;
  }

  void access(Operation *op) {
    Access mine{op->getOperand(0), baseOf(op->getOperand(0)), std::nullopt, !isa<tile::LoadOp>(op)};
    if (isTile(mine.pointer)) {
      mine.layout = layoutOf(mine.pointer);
    }
    if (llvm::any_of(since, [&](const Access &other) { return mayMeet(mine, other); })) {
      barriers.insert(op);
      since.clear();
    }
    since.push_back(std::move(mine));
  }

  /// Whether two threads may touch one address, one of them writing.
  bool mayMeet(const Access &mine, const Access &other) const {
    if (!mine.isWrite && !other.isWrite) {
      return false;
    }
    if (mine.base && other.base && mine.base != other.base) {
      return false; // different arguments promise nothing
    }
    if (!mine.base && !other.base) {
      return true;
    }
    // The same addresses, each touched by the thread that touched it before.
    const bool isSame =
        !isLaterTurn && isSameAddress(mine.pointer, other.pointer) && mine.layout == other.layout;
    return !isSame;
  }

  /// Computed from the same values by the same operations.
  static bool isSameAddress(Value left, Value right) {
    if (left == right) {
      return true;
    }
    Operation *one = left.getDefiningOp(), *other = right.getDefiningOp();
    if (!one || !other || one->getName() != other->getName() || one->getNumRegions() > 0 ||
        !isMemoryEffectFree(one) || one->getAttrDictionary() != other->getAttrDictionary() ||
        left.getType() != right.getType() ||
        cast<OpResult>(left).getResultNumber() != cast<OpResult>(right).getResultNumber()) {
      return false;
    }
    return llvm::all_of(llvm::zip(one->getOperands(), other->getOperands()), [](auto pair) {
      return isSameAddress(std::get<0>(pair), std::get<1>(pair));
    });
  }

  SmallVector<Access> since;
  bool isLaterTurn = false;
};

} // namespace

llvm::DenseSet<Operation *> accessesBehindBarriers(Operation *kernel) {
  Walk walk;
  walk.block(kernel->getRegion(0).front());
  return std::move(walk.barriers);
}

} // namespace nereid::nvidia
