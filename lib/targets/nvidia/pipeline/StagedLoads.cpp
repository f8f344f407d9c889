// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/StagedLoads.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/LaneProducts.h"

#include <algorithm>

using namespace mlir;

namespace nereid::nvidia {

int64_t StagedLoad::bytes() const {
  tile::LoadOp load = this->load;
  auto type = cast<RankedTensorType>(load.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

CopiedVector vectorOf(Value pointer, const tile::AxisInfos &axes) {
  constexpr int64_t most = 16;
  const Type element = cast<tile::PtrType>(tile::elementTypeOf(pointer.getType())).getPointee();
  const int64_t elementBytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  const tile::AxisInfo info = axes.of(pointer);
  CopiedVector best;
  for (int64_t dim : {1, 0}) {
    const auto axis = static_cast<unsigned>(dim);
    const int64_t bytes =
        std::min({most, info.contiguity(axis) * elementBytes, info.divisibility(axis)});
    if (bytes > best.bytes) {
      best = {dim, bytes};
    }
  }
  return best;
}

/// Whether later turns' loads may begin in front of the operation, as far as it alone tells.
static bool letsOthersAhead(Operation *op, const tile::MemoryAccesses &accesses) {
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    return !load.getIsVolatile() && load.getCache() != tile::CacheModifier::CV;
  }
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    return accesses.argumentOf(store.getPointer()) != nullptr;
  }
  return !isa<scf::ForOp, scf::WhileOp>(op) &&
         (op->getNumRegions() != 0 || !tile::hasSideEffects(op));
}

Operation *keepsTurnsApart(scf::ForOp loop, const tile::MemoryAccesses &accesses) {
  Operation *found = nullptr;
  loop.getBody()->walk([&](Operation *op) {
    found = letsOthersAhead(op, accesses) ? nullptr : op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Whether a store of the loop goes through the argument that the load reads through, or may.
static bool isStoredThrough(tile::LoadOp load, scf::ForOp loop,
                            const tile::MemoryAccesses &accesses) {
  const Value argument = accesses.argumentOf(load.getPointer());
  return loop.getBody()
      ->walk([&](tile::StoreOp store) {
        const bool isOther = argument && accesses.argumentOf(store.getPointer()) != argument;
        return isOther ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Whether a product of such elements reads its operands from slots.
static bool readsSlots(Operation *dot, Type element) {
  return element.isF32() ? isLaneProduct(dot) : usesMatrixUnit(dot);
}

/// Whether all users are products that read slots, of the load or of its transpose.
static bool isForProducts(Value value, Block *block, bool mayTranspose) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getBlock() != block) {
      return false;
    }
    if (isa<tile::TransOp>(user)) {
      return mayTranspose && isForProducts(user->getResult(0), block, false);
    }
    return isa<tile::DotOp>(user) && use.getOperandNumber() < 2 &&
           readsSlots(user, tile::elementTypeOf(value.getType()));
  });
}

/// Whether a slot can have tiles of the type.
static bool hasSlots(RankedTensorType type, bool hasWarpgroups) {
  constexpr int64_t chunk = 16; // bytes
  const Type element = type.getElementType();
  if (type.getRank() != 2 || !(element.isF16() || element.isBF16() || element.isF32() ||
                               (hasWarpgroups && element.isInteger(8)))) {
    return false;
  }
  const int64_t least = chunk * 8 / element.getIntOrFloatBitWidth();
  return type.getDimSize(0) >= least && type.getDimSize(1) >= least;
}

SmallVector<StagedLoad> stagedLoadsOf(scf::ForOp loop, const tile::MemoryAccesses &accesses,
                                      bool hasWarpgroups) {
  SmallVector<StagedLoad> found;
  for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (type && hasSlots(type, hasWarpgroups) &&
        isForProducts(load.getResult(), loop.getBody(), /*mayTranspose=*/true) &&
        !isStoredThrough(load, loop, accesses)) {
      found.push_back({load});
    }
  }
  return found;
}

bool Slice::add(scf::ForOp loop, Value value) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar()) {
    return true;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != loop.getBody() || isTile(value)) {
      return false;
    }
    const unsigned index = argument.getArgNumber() - 1;
    return !carried.insert(index) || add(loop, loop.getYieldedValues()[index]);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0 || !isMemoryEffectFree(op)) {
    return false;
  }
  for (Value operand : op->getOperands()) {
    if (!operations.contains(op) && !add(loop, operand)) {
      return false;
    }
  }
  operations.insert(op);
  return true;
}

bool addCopy(Slice &slice, scf::ForOp loop, const StagedLoad &staged) {
  Slice more = slice;
  tile::LoadOp load = staged.load;
  for (Value operand : load->getOperands()) {
    if (!more.add(loop, operand)) {
      return false;
    }
  }
  if (staged.neighbours) {
    SmallVector<Value> values(staged.neighbours->starts);
    values.push_back(staged.neighbours->tile);
    if (staged.neighbours->condition) {
      values.push_back(staged.neighbours->condition);
    }
    for (Value value : values) {
      if (!more.add(loop, value)) {
        return false;
      }
    }
  }
  slice = std::move(more);
  return true;
}

} // namespace nereid::nvidia
