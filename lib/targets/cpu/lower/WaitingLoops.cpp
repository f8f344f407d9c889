// SPDX-License-Identifier: Apache-2.0
// The backward slice of a loop's condition, through the values carried around the loop. An inner
// loop or branch in the slice counts with everything it holds.
#include "lib/targets/cpu/lower/WaitingLoops.h"

#include "lib/tile/analysis/MemoryAccesses.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::cpu {

std::optional<SmallVector<Value>> waitsOn(scf::WhileOp loop) {
  llvm::SetVector<Value> slice;
  slice.insert(loop.getConditionOp().getCondition());
  bool readsMemory = false;
  auto visit = [&](Operation *op) {
    readsMemory |= tile::isAtomic(op) || isa<tile::LoadOp>(op);
    slice.insert(op->operand_begin(), op->operand_end());
  };
  for (size_t i = 0; i < slice.size(); ++i) {
    Value value = slice[i];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned number = argument.getArgNumber();
      if (argument.getOwner() == loop.getBeforeBody()) {
        slice.insert(loop.getYieldOp().getOperand(number));
      } else if (argument.getOwner() == loop.getAfterBody()) {
        slice.insert(loop.getConditionOp().getArgs()[number]);
      }
      continue; // arguments of inner regions come from operands of the operations around them
    }
    if (loop->isAncestor(value.getDefiningOp())) {
      value.getDefiningOp()->walk(visit);
    }
  }
  if (!readsMemory) {
    return std::nullopt;
  }
  SmallVector<Value> observed;
  for (Value value : slice) {
    if (value.getParentBlock() == loop.getBeforeBody() && !isa<RankedTensorType>(value.getType())) {
      observed.push_back(value);
    }
  }
  return observed;
}

bool polls(scf::ForOp loop) {
  WalkResult found = loop.getBody()->walk([](Operation *op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    bool isPoll = (load && load.getIsVolatile()) || (tile::isAtomic(op) && !op->use_empty());
    return isPoll ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

} // namespace nereid::cpu
