// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/WarpgroupProducts.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/MatrixLayouts.h"

using namespace mlir;

namespace nereid::nvidia {

const StagedLoad *stagedLoadOf(Value operand, ArrayRef<StagedLoad> loads) {
  if (auto transpose = operand.getDefiningOp<tile::TransOp>()) {
    operand = transpose.getSource();
  }
  const auto *found = llvm::find_if(loads, [&](const StagedLoad &one) {
    tile::LoadOp load = one.load;
    return load.getResult() == operand;
  });
  return found == loads.end() ? nullptr : found;
}

namespace {

bool isFor(tile::DotOp dot, ArrayRef<StagedLoad> loads, const Threads &threads) {
  const StagedLoad *right = stagedLoadOf(dot.getB(), loads);
  const Type element = tile::elementTypeOf(dot.getA().getType());
  if (!right || !usesMatrixUnit(dot) || element.getIntOrFloatBitWidth() != 16) {
    return false;
  }
  const auto shape = shapeOf(dot.getResult());
  const auto grid = warpgroupGridFor(shape[0], shape[1], threads.warps);
  if (!grid) {
    return false;
  }
  // Where memory runs along the columns, 64 of them are a panel, which groups do not share.
  const bool isTransposed = isa<tile::TransOp>(dot.getB().getDefiningOp());
  const bool runsAlongColumns = (right->fastest == 1) != isTransposed;
  constexpr int64_t panel = 64;
  return !runsAlongColumns || grid->columns == 1 || shape[1] / grid->columns >= panel;
}

/// Whether the result is what the next turn adds to, and nothing else.
bool isOnlyCarried(tile::DotOp dot, scf::ForOp loop) {
  auto carried = dyn_cast<BlockArgument>(dot.getC());
  if (!carried || carried.getOwner() != loop.getBody() || !carried.hasOneUse() ||
      !dot->hasOneUse()) {
    return false;
  }
  OpOperand &use = *dot->getUses().begin();
  return use.getOwner() == loop.getBody()->getTerminator() &&
         use.getOperandNumber() + 1 == carried.getArgNumber();
}

} // namespace

int64_t markWarpgroupProducts(scf::ForOp loop, ArrayRef<StagedLoad> loads, const Threads &threads) {
  int64_t deferred = 0;
  for (auto dot : loop.getBody()->getOps<tile::DotOp>()) {
    if (!isFor(dot, loads, threads)) {
      continue;
    }
    dot->setAttr(warpgroupAttribute, UnitAttr::get(dot.getContext()));
    // A left operand in registers has to stay there until the product has ended.
    if (isOnlyCarried(dot, loop) && stagedLoadOf(dot.getA(), loads)) {
      dot->setAttr(deferredAttribute, UnitAttr::get(dot.getContext()));
      ++deferred;
    }
  }
  return deferred;
}

} // namespace nereid::nvidia
