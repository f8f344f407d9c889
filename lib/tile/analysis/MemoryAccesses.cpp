// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/analysis/MemoryAccesses.h"

#include "lib/tile/ir/Tile.h"

namespace nereid::tile {

bool isAtomic(mlir::Operation *op) { return mlir::isa<AtomicRMWOp, AtomicCASOp>(op); }

bool hasSideEffects(mlir::Operation *op) {
  return op
      ->walk([](mlir::Operation *inner) {
        const bool isEffect = inner->getNumRegions() == 0 && !mlir::isa<LoadOp>(inner) &&
                              !mlir::isMemoryEffectFree(inner);
        return isEffect ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

mlir::Value accessedThrough(mlir::Operation *op) {
  return mlir::isa<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp>(op) ? op->getOperand(0)
                                                                  : mlir::Value();
}

/// Longer chains of operations are not compared.
static constexpr int deepestComparison = 8;

static bool isSame(mlir::Value a, mlir::Value b, int depth) {
  if (a == b) {
    return true;
  }
  auto x = mlir::dyn_cast<mlir::OpResult>(a), y = mlir::dyn_cast<mlir::OpResult>(b);
  if (depth == 0 || !x || !y || x.getResultNumber() != y.getResultNumber()) {
    return false;
  }
  mlir::Operation *p = x.getOwner(), *q = y.getOwner();
  const bool isAlike = p->getName() == q->getName() && a.getType() == b.getType() &&
                       p->getNumRegions() == 0 && mlir::isMemoryEffectFree(p) &&
                       p->getNumOperands() == q->getNumOperands() &&
                       p->getAttrDictionary() == q->getAttrDictionary();
  return isAlike &&
         llvm::all_of(llvm::zip_equal(p->getOperands(), q->getOperands()), [&](const auto &pair) {
           const auto &[left, right] = pair;
           return isSame(left, right, depth - 1);
         });
}

bool isSameValue(mlir::Value a, mlir::Value b) { return isSame(a, b, deepestComparison); }

static bool holdsPointer(mlir::Value value) {
  return mlir::isa<PtrType>(elementTypeOf(value.getType()));
}

/// Its results are made of its operands alone.
static bool isArithmetic(mlir::Operation *op) {
  return op->getNumRegions() == 0 && mlir::isMemoryEffectFree(op);
}

void MemoryAccesses::find(mlir::Operation *function) {
  for (mlir::Region &region : function->getRegions()) {
    for (mlir::Value argument : region.getArguments()) {
      follow(argument, argument);
    }
  }
  // Pointers from elsewhere, which may be joined with those that are made from arguments.
  function->walk([&](mlir::Operation *op) {
    const bool passesOn = isArithmetic(op) ? llvm::any_of(op->getOperands(), holdsPointer)
                                           : mlir::isa<mlir::RegionBranchOpInterface>(op);
    for (mlir::Value result : op->getResults()) {
      if (!passesOn) {
        follow(result, nullptr);
      }
    }
  });
}

/// Where a branch or a loop, or the end of one of its regions, passes the operand on to.
static llvm::SmallVector<mlir::Value> passedOnTo(mlir::OpOperand &use) {
  mlir::Operation *op = use.getOwner();
  auto terminator = mlir::dyn_cast<mlir::RegionBranchTerminatorOpInterface>(op);
  auto branch = mlir::dyn_cast<mlir::RegionBranchOpInterface>(terminator ? op->getParentOp() : op);
  llvm::SmallVector<mlir::Value> result;
  if (!branch) {
    return result;
  }
  llvm::SmallVector<mlir::RegionSuccessor> successors;
  branch.getSuccessorRegions(terminator ? mlir::RegionBranchPoint(op->getParentRegion())
                                        : mlir::RegionBranchPoint::parent(),
                             successors);
  for (const mlir::RegionSuccessor &successor : successors) {
    const mlir::OperandRange operands = terminator ? terminator.getSuccessorOperands(successor)
                                                   : branch.getEntrySuccessorOperands(successor);
    const unsigned first = operands.empty() ? 0 : operands.getBeginOperandIndex();
    const unsigned number = use.getOperandNumber();
    if (number >= first && number < first + operands.size()) {
      result.push_back(successor.getSuccessorInputs()[number - first]);
    }
  }
  return result;
}

void MemoryAccesses::follow(mlir::Value root, mlir::Value argument) {
  llvm::DenseSet<mlir::Value> seen;
  llvm::SmallVector<mlir::Value> waiting;
  auto reach = [&](mlir::Value value) {
    if (!holdsPointer(value) || !seen.insert(value).second) {
      return;
    }
    auto [known, isFirst] = arguments.try_emplace(value, argument);
    if (!isFirst && known->second != argument) {
      known->second = nullptr;
    }
    waiting.push_back(value);
  };
  reach(root);
  while (!waiting.empty()) {
    for (mlir::OpOperand &use : waiting.pop_back_val().getUses()) {
      noteUse(use, argument);
      if (isArithmetic(use.getOwner())) {
        llvm::for_each(use.getOwner()->getResults(), reach);
      }
      llvm::for_each(passedOnTo(use), reach);
    }
  }
}

/// What an operation does through one of its operands, a pointer made from the argument.
void MemoryAccesses::noteUse(mlir::OpOperand &use, mlir::Value argument) {
  mlir::Operation *op = use.getOwner();
  const bool isAccess = use.getOperandNumber() == 0 && accessedThrough(op);
  const bool isFollowed = isArithmetic(op) ? !mlir::isa<PtrToIntOp>(op) : !passedOnTo(use).empty();
  if (!argument || (!isAccess && isFollowed)) {
    return;
  }
  if (!mlir::isa<StoreOp>(op) || !isAccess) {
    read.insert(argument);
  }
  if (!mlir::isa<LoadOp>(op) || !isAccess) {
    written.insert(argument);
  }
}

bool MemoryAccesses::mayConflict(mlir::Value pointer, mlir::Value other,
                                 llvm::function_ref<bool(mlir::Value)> mayRepeat) const {
  const mlir::Value a = argumentOf(pointer), b = argumentOf(other);
  return (!a || !b || a == b) && (!isSameValue(pointer, other) || mayRepeat(pointer));
}

} // namespace nereid::tile
