// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/ReadOnlyArguments.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid::pipeline {
namespace {

bool holdsPointer(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return mlir::isa<tile::PtrType>(tensor ? tensor.getElementType() : type);
}

/// All values that are made from one argument.
class Followed {
public:
  bool isWritten(mlir::Value argument) {
    add(argument);
    while (!waiting.empty()) {
      mlir::Value value = waiting.pop_back_val();
      for (mlir::OpOperand &use : value.getUses()) {
        if (!follow(use)) {
          return true;
        }
      }
    }
    return false;
  }

private:
  void add(mlir::Value value) {
    if (seen.insert(value).second) {
      waiting.push_back(value);
    }
  }

  /// False when the use writes through the pointer, or may.
  bool follow(mlir::OpOperand &use) {
    mlir::Operation *op = use.getOwner();
    const unsigned number = use.getOperandNumber();
    if (mlir::isa<tile::LoadOp>(op)) {
      return true;
    }
    if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op)) {
      const unsigned first = loop.getNumControlOperands();
      addOfLoop(loop, number - first);
      return true;
    }
    if (mlir::isa<mlir::scf::YieldOp>(op)) {
      if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op->getParentOp())) {
        addOfLoop(loop, number);
        return true;
      }
      if (mlir::isa<mlir::scf::IfOp>(op->getParentOp())) {
        add(op->getParentOp()->getResult(number));
        return true;
      }
      return false;
    }
    if (op->getNumRegions() != 0 || !mlir::isMemoryEffectFree(op)) {
      return false;
    }
    for (mlir::Value result : op->getResults()) {
      if (holdsPointer(result.getType())) {
        add(result);
      } else if (mlir::isa<tile::PtrToIntOp>(op)) {
        return false; // an address may become a pointer again
      }
    }
    return true;
  }

  void addOfLoop(mlir::scf::ForOp loop, unsigned carried) {
    add(loop.getRegionIterArg(carried));
    add(loop.getResult(carried));
  }

  llvm::DenseSet<mlir::Value> seen;
  llvm::SmallVector<mlir::Value> waiting;
};

} // namespace

void noteReadOnlyArguments(mlir::Operation *kernel) {
  auto function = mlir::dyn_cast<mlir::func::FuncOp>(kernel);
  if (!function || function.getBody().empty()) {
    return;
  }
  llvm::SmallVector<int64_t> readOnly;
  for (mlir::BlockArgument argument : function.getArguments()) {
    if (holdsPointer(argument.getType()) && !Followed().isWritten(argument)) {
      readOnly.push_back(argument.getArgNumber());
    }
  }
  kernel->setAttr("nereid.read_only",
                  mlir::Builder(kernel->getContext()).getDenseI64ArrayAttr(readOnly));
}

} // namespace nereid::pipeline
