// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/WrittenLoops.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/tile/ir/Constants.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::nvidia {

std::optional<int64_t> turnsOf(scf::ForOp loop) {
  const auto begin = tile::constantOf(loop.getLowerBound()),
             end = tile::constantOf(loop.getUpperBound()), step = tile::constantOf(loop.getStep());
  int64_t span = 0;
  if (!begin || !end || !step || *step <= 0 || __builtin_sub_overflow(*end, *begin, &span)) {
    return std::nullopt;
  }
  return span <= 0 ? 0 : (span - 1) / *step + 1;
}

/// Copies `op`, or what it folds to.
static void copyOrFold(OpBuilder &builder, Operation &op, IRMapping &mapping) {
  Operation *copy = builder.clone(op, mapping);
  SmallVector<Value> folded;
  // One that is changed in its place has no other results.
  if (copy->getNumRegions() == 0 && copy->getNumResults() > 0 &&
      succeeded(builder.tryFold(copy, folded)) && !folded.empty()) {
    for (auto [result, value] : llvm::zip(op.getResults(), folded)) {
      mapping.map(result, value);
    }
    copy->erase();
  }
}

void writeOut(scf::ForOp loop, int64_t turns) {
  OpBuilder builder(loop);
  SmallVector<Value> carried(loop.getInitArgs());
  const int64_t begin = *tile::constantOf(loop.getLowerBound()),
                step = *tile::constantOf(loop.getStep());
  for (int64_t turn = 0; turn < turns; ++turn) {
    IRMapping mapping;
    mapping.map(loop.getRegionIterArgs(), carried);
    mapping.map(loop.getInductionVar(),
                builder
                    .create<arith::ConstantOp>(
                        loop.getLoc(), builder.getIntegerAttr(loop.getInductionVar().getType(),
                                                              begin + turn * step))
                    .getResult());
    for (Operation &op : loop.getBody()->without_terminator()) {
      copyOrFold(builder, op, mapping);
    }
    for (auto [value, handed] : llvm::zip(carried, loop.getYieldedValues())) {
      value = mapping.lookupOrDefault(handed);
    }
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

} // namespace nereid::nvidia
