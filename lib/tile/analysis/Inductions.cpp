// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/analysis/Inductions.h"

#include "lib/tile/analysis/axis/AxisInfo.h"
#include "lib/tile/ir/Tile.h"

namespace nereid::tile {

mlir::Value addedPerRound(mlir::BlockArgument carried) {
  auto loop = mlir::dyn_cast<mlir::scf::ForOp>(carried.getOwner()->getParentOp());
  if (!loop || carried == loop.getInductionVar()) {
    return nullptr;
  }
  mlir::Operation *next = loop.getTiedLoopYieldedValue(carried)->get().getDefiningOp();
  if (auto sum = mlir::dyn_cast_or_null<mlir::arith::AddIOp>(next)) {
    return sum.getLhs() == carried   ? sum.getRhs()
           : sum.getRhs() == carried ? sum.getLhs()
                                     : mlir::Value();
  }
  auto sum = mlir::dyn_cast_or_null<AddPtrOp>(next);
  return sum && sum.getPointer() == carried ? sum.getOffset() : mlir::Value();
}

static bool isUniform(const AxisInfo &info) {
  for (unsigned dim = 0; dim < info.axes.size(); ++dim) {
    if (!info.isUniform(dim)) {
      return false;
    }
  }
  return true;
}

void Inductions::find(mlir::Operation *function) {
  // Whether a step is uniform may depend on values that the loop carries, and these on others:
  // AxisInfos answers for all rounds. Few kernels add to tiles in loops, so it is asked late.
  std::unique_ptr<AxisInfos> numbers;
  function->walk([&](mlir::scf::ForOp loop) {
    for (auto [carried, initial] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs())) {
      const mlir::Value step = addedPerRound(carried);
      if (!step) {
        continue;
      }
      if (mlir::isa<mlir::ShapedType>(step.getType())) {
        if (!numbers) {
          numbers = std::make_unique<AxisInfos>(function);
        }
        if (!isUniform(numbers->of(step))) {
          continue;
        }
      }
      table[carried] = {initial, step};
    }
  });
}

} // namespace nereid::tile
