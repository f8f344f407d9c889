// SPDX-License-Identifier: Apache-2.0
// The backward slice of a loop's condition, through the values carried around the loop. An inner
// loop, branch or call in the slice counts with everything it holds.
#include "lib/tile/analysis/BlockingLoops.h"

#include "lib/tile/analysis/MemoryAccesses.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace nereid::tile {
namespace {

using Functions = llvm::SetVector<mlir::Operation *>;

void addCallee(mlir::Operation *op, Functions &functions) {
  if (auto call = mlir::dyn_cast<mlir::func::CallOp>(op)) {
    if (mlir::Operation *callee =
            mlir::SymbolTable::lookupNearestSymbolFrom(op, call.getCalleeAttr())) {
      functions.insert(callee);
    }
  }
}

bool readsMemory(mlir::Operation *op) {
  return isAtomic(op) || mlir::isa<LoadOp, DescriptorLoadOp, DescriptorGatherOp>(op);
}

/// One of the functions, or of those that they call, reads memory.
bool readMemory(Functions functions) {
  bool reads = false;
  for (size_t i = 0; i < functions.size(); ++i) {
    mlir::Operation *function = functions[i];
    function->walk([&](mlir::Operation *op) {
      reads |= readsMemory(op);
      addCallee(op, functions);
    });
  }
  return reads;
}

} // namespace

std::optional<llvm::SmallVector<mlir::Value>> blocksOn(mlir::scf::WhileOp loop) {
  llvm::SetVector<mlir::Value> slice;
  slice.insert(loop.getConditionOp().getCondition());
  bool reads = false;
  Functions called;
  auto visit = [&](mlir::Operation *op) {
    reads |= readsMemory(op);
    addCallee(op, called);
    slice.insert(op->operand_begin(), op->operand_end());
  };
  for (size_t i = 0; i < slice.size(); ++i) {
    mlir::Value value = slice[i];
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
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
  if (!reads && !readMemory(std::move(called))) {
    return std::nullopt;
  }
  llvm::SmallVector<mlir::Value> observed;
  for (mlir::Value value : slice) {
    if (value.getParentBlock() == loop.getBeforeBody() &&
        !mlir::isa<mlir::RankedTensorType>(value.getType())) {
      observed.push_back(value);
    }
  }
  return observed;
}

bool mayBlock(mlir::func::FuncOp kernel) {
  Functions functions;
  functions.insert(kernel);
  bool waits = false;
  for (size_t i = 0; i < functions.size() && !waits; ++i) {
    mlir::Operation *function = functions[i];
    function->walk([&](mlir::Operation *op) {
      auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op);
      waits |= loop && blocksOn(loop);
      addCallee(op, functions);
    });
  }
  return waits;
}

bool polls(mlir::Operation *op) {
  return op
      ->walk([](mlir::Operation *inner) {
        auto load = mlir::dyn_cast<LoadOp>(inner);
        const bool isPoll =
            (load && load.getIsVolatile()) || (isAtomic(inner) && !inner->use_empty());
        return isPoll ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace nereid::tile
