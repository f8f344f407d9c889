// SPDX-License-Identifier: Apache-2.0
// nvidia-hoist-scalar-loads: read single numbers before a reduction rather than behind it.
//
// Why: behind a reduction all threads of a program stand still, and a number that is asked for only
// then costs them the whole way to memory; asked for before, it comes while they exchange theirs.
// ptxas moves no load across the barriers of a reduction. It goes no further, and what takes two
// registers stays: holding it for longer can cost a program's place on a multiprocessor.
// Requires: one function, without layouts.
// Guarantees: a load of one number of up to 32 bits stands, with the arithmetic of its address, in
// front of the last reduction or scan of its block that it stood behind, unless that or something
// in between gives its address or may write.
// Example: `%t = tile.reduce %x ; %p = tile.addptr %q, %row ; %v = tile.load %p` becomes
// `%p = tile.addptr %q, %row ; %v = tile.load %p ; %t = tile.reduce %x`.
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/pipeline/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

bool isOfNumbers(Operation *op) {
  return llvm::none_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
}

bool isOfOneRegister(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 32;
}

/// What of its block a load's address is computed by, and may stand anywhere behind its operands.
class AddressOf {
public:
  explicit AddressOf(Operation *load) : block(load->getBlock()) { visit(load); }

  llvm::SetVector<Operation *> operations; ///< operands before their users
  llvm::SetVector<Operation *> roots;      ///< of the block, which stay where they are

private:
  void visit(Operation *user) {
    for (Value operand : user->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || op->getBlock() != block || operations.contains(op) || roots.contains(op)) {
        continue;
      }
      if (op->getNumRegions() == 0 && isOfNumbers(op) && isMemoryEffectFree(op) &&
          !isa<tile::UnsplatOp>(op)) {
        visit(op);
        operations.insert(op);
      } else {
        roots.insert(op);
      }
    }
  }

  Block *block;
};

void hoist(tile::LoadOp load) {
  const AddressOf address(load);
  Operation *reduction = load->getPrevNode();
  while (reduction && !isa<tile::ReduceOp, tile::ScanOp>(reduction)) {
    if (address.roots.contains(reduction) || mayWriteMemory(reduction)) {
      return;
    }
    reduction = reduction->getPrevNode();
  }
  if (!reduction || address.roots.contains(reduction)) {
    return;
  }
  for (Operation *op : address.operations) {
    if (reduction->isBeforeInBlock(op)) {
      op->moveBefore(reduction);
    }
  }
  load->moveBefore(reduction);
}

class HoistScalarLoadsPass : public PassWrapper<HoistScalarLoadsPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistScalarLoadsPass)

  StringRef getArgument() const override { return "nvidia-hoist-scalar-loads"; }
  StringRef getDescription() const override {
    return "read single numbers before a reduction rather than behind it";
  }

  void runOnOperation() override {
    SmallVector<tile::LoadOp> loads;
    getOperation().walk([&](tile::LoadOp load) {
      if (isOfOneRegister(load.getType()) && !load.getIsVolatile()) {
        loads.push_back(load);
      }
    });
    for (tile::LoadOp load : loads) {
      hoist(load);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createHoistScalarLoadsPass() {
  return std::make_unique<HoistScalarLoadsPass>();
}

} // namespace nereid::nvidia
