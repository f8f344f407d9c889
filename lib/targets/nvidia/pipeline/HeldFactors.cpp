// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/HeldFactors.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/pipeline/WarpgroupProducts.h"

#include <algorithm>

using namespace mlir;

namespace nereid::nvidia {

int64_t HeldFactor::bytes() const {
  auto type = cast<RankedTensorType>(tile.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

Value rootOf(Value factor) {
  auto transpose = factor.getDefiningOp<tile::TransOp>();
  return transpose ? transpose.getSource() : factor;
}

namespace {

/// The load whose elements a tile has, changed one by one or not at all; null where there is none.
tile::LoadOp originOf(Value tile) {
  constexpr int deepest = 8;
  for (int depth = 0; depth < deepest; ++depth) {
    Operation *op = tile.getDefiningOp();
    if (auto load = dyn_cast_or_null<tile::LoadOp>(op)) {
      return load;
    }
    if (!op || !OpTrait::hasElementwiseMappableTraits(op)) {
      return {};
    }
    tile = op->getOperand(0);
  }
  return {};
}

/// 32-bit registers of a thread that a tile takes.
int64_t registersOf(Value tile, const Threads &threads) {
  auto type = cast<RankedTensorType>(tile.getType());
  const Type element = type.getElementType();
  const int64_t bits = isa<tile::PtrType>(element) ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * bits / (32 * Threads::lanes * threads.warps);
}

class Finder {
public:
  Finder(scf::ForOp loop, ArrayRef<StagedLoad> loads, const Threads &threads,
         const tile::AxisInfos &axes)
      : loop(loop), loads(loads), threads(threads), axes(axes) {}

  SmallVector<HeldFactor> run() {
    SmallVector<tile::DotOp> products;
    for (auto dot : loop.getBody()->getOps<tile::DotOp>()) {
      if (isMadeByWarpgroups(dot)) {
        products.push_back(dot);
      }
    }
    if (registersHave(products)) {
      return std::move(found);
    }
    for (tile::DotOp dot : products) {
      Value left = rootOf(dot.getA());
      if (suits(left) && isForLeftFactors(left, products)) {
        add(left);
      }
    }
    return std::move(found);
  }

private:
  bool isMadeByWarpgroups(tile::DotOp dot) {
    if (canWarpgroupsMultiply(dot, loads, found, threads)) {
      return true;
    }
    Value right = rootOf(dot.getB());
    if (!suits(right)) {
      return false;
    }
    add(right);
    if (canWarpgroupsMultiply(dot, loads, found, threads)) {
      return true;
    }
    found.pop_back();
    return false;
  }

  /// Whether a slot can have the tile, in rows of one of the swizzles.
  bool suits(Value tile) {
    constexpr int64_t leastElements = 16;
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    return type && type.getRank() == 2 && loop.isDefinedOutsideOfLoop(tile) &&
           (type.getElementType().isF16() || type.getElementType().isBF16()) &&
           type.getDimSize(0) >= leastElements && type.getDimSize(1) >= leastElements;
  }

  void add(Value tile) {
    if (llvm::any_of(found, [&](const HeldFactor &other) { return other.tile == tile; })) {
      return;
    }
    HeldFactor factor{tile};
    if (tile::LoadOp load = originOf(tile); load && isTile(load.getPointer())) {
      const auto [fastest, bytes] = vectorOf(load.getPointer(), axes);
      factor.fastest = fastest;
      factor.canBeCopied = load.getResult() == tile && bytes >= leastCopiedBytes;
    }
    found.push_back(factor);
  }

  /// Whether a thread can hold the sums of the loop's products, what else it loads in a turn, and
  /// the left factors that are not in slots.
  bool registersHave(ArrayRef<tile::DotOp> products) {
    constexpr int64_t besides = 60, ofThread = 255, ofProcessor = 64 << 10;
    int64_t registers = besides;
    for (Operation &op : *loop.getBody()) {
      auto load = dyn_cast<tile::LoadOp>(op);
      const bool isStaged = load && fastestInSlot(load.getResult(), loads, found);
      if (isa<tile::DotOp>(op) || (load && isTile(load.getResult()) && !isStaged)) {
        registers += registersOf(op.getResult(0), threads);
      }
    }
    llvm::SmallDenseSet<Value> lefts;
    for (tile::DotOp dot : products) {
      Value left = rootOf(dot.getA());
      if (loop.isDefinedOutsideOfLoop(left) && !fastestInSlot(left, loads, found) &&
          lefts.insert(left).second) {
        registers += registersOf(left, threads);
      }
    }
    return registers <= std::min(ofThread, ofProcessor / (Threads::lanes * threads.warps));
  }

  /// Whether nothing in the loop needs the tile but these products, as their left factor.
  bool isForLeftFactors(Value tile, ArrayRef<tile::DotOp> products) {
    return llvm::all_of(tile.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<tile::TransOp>(user)) {
        return isForLeftFactors(user->getResult(0), products);
      }
      return !loop->isProperAncestor(user) ||
             (use.getOperandNumber() == 0 && llvm::is_contained(products, user));
    });
  }

  scf::ForOp loop;
  ArrayRef<StagedLoad> loads;
  const Threads &threads;
  const tile::AxisInfos &axes;
  SmallVector<HeldFactor> found;
};

} // namespace

SmallVector<HeldFactor> heldFactorsOf(scf::ForOp loop, ArrayRef<StagedLoad> loads,
                                      const Threads &threads, const tile::AxisInfos &axes) {
  return Finder(loop, loads, threads, axes).run();
}

/// Whether all users are warpgroups' products of the loop, of the tile or of its transpose.
static bool isForProductsOf(scf::ForOp loop, Value tile) {
  return llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tile::TransOp>(user)) {
      return isForProductsOf(loop, user->getResult(0));
    }
    return user->getBlock() == loop.getBody() && user->hasAttr(warpgroupAttribute) &&
           use.getOperandNumber() < 2;
  });
}

tile::LoadOp copiedLoadOf(scf::ForOp loop, const HeldFactor &factor) {
  auto load = factor.tile.getDefiningOp<tile::LoadOp>();
  if (!factor.canBeCopied || load->getBlock() != loop->getBlock() || load.getIsVolatile() ||
      load.getCache() == tile::CacheModifier::CV || !isForProductsOf(loop, load.getResult())) {
    return {};
  }
  for (Operation *op = load->getNextNode(); op != loop; op = op->getNextNode()) {
    if (tile::hasSideEffects(op)) {
      return {};
    }
  }
  return load;
}

} // namespace nereid::nvidia
