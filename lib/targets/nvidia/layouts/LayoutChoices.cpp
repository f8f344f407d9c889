// SPDX-License-Identifier: Apache-2.0
// Layouts that values ask for, see LayoutChoices.h.
#include "lib/targets/nvidia/layouts/LayoutChoices.h"

#include "lib/layout/RowLayout.h"
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/OperandLayouts.h"
#include "lib/tile/analysis/MemoryAccesses.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::LinearLayout;

LayoutChoices::LayoutChoices(func::FuncOp kernel, const tile::AxisInfos &axes,
                             const Threads &threads, FreeTiles &free)
    : axes(axes), threads(threads), free(free),
      hasProducts(
          kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted()) {}

LinearLayout LayoutChoices::homeOf(Value value) {
  if (auto layout = layoutOf(value)) {
    return *layout;
  }
  return usualLayout(value, threads);
}

/// What the users of a value that some loop or branch hands on would like best.
std::optional<LinearLayout> LayoutChoices::wish(Value value, unsigned depth) {
  constexpr unsigned deepest = 8;
  if (depth == deepest) {
    return std::nullopt;
  }
  for (OpOperand &use : value.getUses()) {
    if (auto layout = wishOf(use, depth)) {
      return layout;
    }
  }
  return std::nullopt;
}

std::optional<LinearLayout> LayoutChoices::wishOf(OpOperand &use, unsigned depth) {
  Operation *user = use.getOwner();
  if (auto dot = dyn_cast<tile::DotOp>(user)) {
    return use.getOperandNumber() == 2 ? std::optional(productLayout(dot, threads)) : std::nullopt;
  }
  if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp, AsyncCopyOp>(user)) {
    Value pointer = user->getOperand(0);
    return accessLayout(pointer, axes, threads);
  }
  if (worksInAnyLayout(user) && user->getNumResults() == 1 && isTile(user->getResult(0))) {
    if (auto layout = wish(user->getResult(0), depth + 1)) {
      return operandLayout(user, use.getOperandNumber(), *layout);
    }
  }
  return std::nullopt;
}

/// The layout in which a value is made, as far as accesses and products that it is computed from
/// say so.
std::optional<LinearLayout> LayoutChoices::origin(Value value, unsigned depth) {
  constexpr unsigned deepest = 8;
  if (!isTile(value) || depth == deepest) {
    return std::nullopt;
  }
  if (auto layout = layoutOf(value)) {
    return layout;
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    return std::nullopt;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return origin(loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()], depth + 1);
  }
  if (auto wait = dyn_cast<AwaitProductOp>(op)) {
    return origin(wait.getSource(), depth + 1);
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    auto source = origin(reduce.getSources().front(), depth + 1);
    return source && source->isPermutation()
               ? std::optional(source->withoutAxis(static_cast<unsigned>(reduce.getAxis())))
               : std::nullopt;
  }
  if (isa<tile::DotOp>(op)) {
    return productLayout(op, threads);
  }
  if (isa<tile::LoadOp>(op)) {
    Value pointer = op->getOperand(0);
    return accessLayout(pointer, axes, threads);
  }
  if (worksInAnyLayout(op) && !isa<tile::BroadcastOp>(op)) {
    for (Value operand : op->getOperands()) {
      if (auto layout = origin(operand, depth + 1)) {
        return resultLayout(op, *layout);
      }
    }
  }
  return std::nullopt;
}

std::optional<LinearLayout> LayoutChoices::ofCarried(Value carried, Value initial, Value handed) {
  if (auto wanted = wish(carried)) {
    return wanted;
  }
  return free.contains(initial) ? origin(handed) : homeOf(initial);
}

/// What a value that repeats along others meets: it is read as often as it is needed, if a thread
/// reads few of it, instead of being moved by shared memory.
std::optional<LinearLayout> LayoutChoices::layoutBesideUse(Value value, unsigned depth) {
  constexpr unsigned deepest = 4;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (depth == deepest || !worksInAnyLayout(user) || user->getNumResults() != 1) {
      return std::nullopt;
    }
    std::optional<LinearLayout> result;
    for (Value other : user->getOperands()) {
      if (other != value && isTile(other) && !free.contains(other) &&
          shapeOf(other) == shapeOf(user->getResult(0))) {
        result = origin(other);
      }
    }
    result = result ? result : layoutBesideUse(user->getResult(0), depth + 1);
    if (result) {
      return operandLayout(user, use.getOperandNumber(), *result);
    }
  }
  return std::nullopt;
}

/// Whether the load's rows, one for each warp at least, are reduced and nothing else: each warp
/// then reduces its own, and computes what its rows have in common for these alone.
bool LayoutChoices::isReducedRow(Operation *access) {
  auto load = dyn_cast<tile::LoadOp>(access);
  const LinearLayout::Shape shape = load ? shapeOf(load.getResult()) : LinearLayout::Shape();
  if (shape.size() < 2 || shape.back() < threads.lanes ||
      cast<RankedTensorType>(load.getType()).getNumElements() / shape.back() < threads.warps) {
    return false;
  }
  Value value = load.getResult();
  constexpr unsigned deepest = 8;
  for (unsigned depth = 0; depth < deepest && value.hasOneUse(); ++depth) {
    Operation *user = *value.getUsers().begin();
    if (auto reduce = dyn_cast<tile::ReduceOp>(user)) {
      return static_cast<size_t>(reduce.getAxis()) + 1 == shape.size();
    }
    if (!worksInAnyLayout(user) || user->getNumResults() != 1 ||
        shapeOf(user->getResult(0)) != shape) {
      return false;
    }
    value = user->getResult(0);
  }
  return false;
}

/// Of a load that has an element for a thread at most.
std::optional<LinearLayout> LayoutChoices::layoutOfRepeated(Operation *access) {
  auto load = dyn_cast<tile::LoadOp>(access);
  if (!load || load.getIsVolatile() ||
      cast<RankedTensorType>(load.getType()).getNumElements() > threads.lanes * threads.warps ||
      !llvm::all_of(load->getOperands(), [&](Value each) { return free.contains(each); })) {
    return std::nullopt;
  }
  // One instruction would read so many from shared memory. Sums of products leave no registers.
  const int64_t most = hasProducts ? 1 : 4;
  auto layout = layoutBesideUse(load.getResult());
  return layout && layout->count(layout::Holder::Register) <= most ? layout : std::nullopt;
}

/// Of the tiles that were loaded and meet this one, element by element, the layout in which a
/// thread has the fewest neighbours at once.
std::optional<LinearLayout> LayoutChoices::shortestMet(Value value, unsigned depth) {
  constexpr unsigned deepest = 8;
  std::optional<LinearLayout> shortest;
  const auto consider = [&](const std::optional<LinearLayout> &met) {
    if (met && (!shortest || neighboursOf(*met) < neighboursOf(*shortest))) {
      shortest = met;
    }
  };
  for (Operation *user : value.getUsers()) {
    if (depth == deepest || !worksInAnyLayout(user) || user->getNumResults() != 1 ||
        !isTile(user->getResult(0)) || shapeOf(user->getResult(0)) != shapeOf(value)) {
      continue;
    }
    for (Value other : user->getOperands()) {
      if (other != value && isTile(other) && !free.contains(other) &&
          shapeOf(other) == shapeOf(value)) {
        consider(origin(other));
      }
    }
    consider(shortestMet(user->getResult(0), depth + 1));
  }
  return shortest;
}

/// Of narrow elements a thread could load more neighbours than of the wide ones that they meet,
/// and one of both would move through shared memory: it takes as many as of those. What lies
/// scattered has no neighbours, and follows others itself.
std::optional<LinearLayout> LayoutChoices::layoutOfNarrow(Operation *access, Value pointer) {
  auto load = dyn_cast<tile::LoadOp>(access);
  const auto met = load ? shortestMet(load.getResult()) : std::nullopt;
  const int64_t count = met ? neighboursOf(*met) : 1;
  return count > 1 && count < neighboursOf(accessLayout(pointer, axes, threads)) &&
                 fillsSectors(*met, pointer, axes.of(pointer))
             ? met
             : std::nullopt;
}

/// The layout of what is stored, or that of the product which adds to what is loaded.
std::optional<LinearLayout> LayoutChoices::layoutBeyond(Operation *access) {
  if (auto store = dyn_cast<tile::StoreOp>(access)) {
    return free.contains(store.getValue()) ? std::nullopt : std::optional(homeOf(store.getValue()));
  }
  if (!isa<tile::LoadOp>(access) || !access->hasOneUse()) {
    return std::nullopt;
  }
  OpOperand &use = *access->getUses().begin();
  const bool isSum = isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() == 2;
  return isSum && usesMatrixUnit(use.getOwner())
             ? std::optional(productLayout(use.getOwner(), threads))
             : std::nullopt;
}

LinearLayout LayoutChoices::ofAccess(Operation *access, Value pointer) {
  auto store = dyn_cast<tile::StoreOp>(access);
  const auto beyond = layoutBeyond(access);
  if (beyond && fillsSectors(*beyond, pointer, axes.of(pointer)) &&
      llvm::all_of(access->getOperands(), [&](Value operand) {
        return free.contains(operand) || (store && operand == store.getValue());
      })) {
    return *beyond;
  }
  if (auto repeated = layoutOfRepeated(access)) {
    return *repeated;
  }
  if (auto narrow = layoutOfNarrow(access, pointer)) {
    return *narrow;
  }
  // Places that a scan has counted follow each other from lane to lane.
  if (!isScattered(axes.of(pointer)) || (store && comesFromScan(pointer))) {
    return accessLayout(pointer, axes, threads);
  }
  if (free.contains(pointer) && isReducedRow(access)) {
    return layout::rowLayout(shapeOf(pointer), threads.lanes, threads.warps);
  }
  // The one in which the least has to move: that of the addresses, else of what is beside it.
  return free.contains(pointer) ? layoutBeside(access, axes, threads) : homeOf(pointer);
}

} // namespace nereid::nvidia
