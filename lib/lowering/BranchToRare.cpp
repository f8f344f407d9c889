// SPDX-License-Identifier: Apache-2.0
// branch-to-rare: compute what only few lanes need behind a branch.
//
// Why: a choice between two values computes both. Where the condition of an `arith.select` marked
// as rare holds for no lane, which is nearly always, what its first value alone needs is not worth
// computing: a second form of a function for arguments that hardly occur.
// Requires: conditions are scalars or vectors with one dimension.
// Guarantees: no marked select is left, and the branches are marked. The results are the same:
// nothing with an effect is moved. Between expand-half, after which floats are f32 or f64, and
// expand-math, which makes hundreds of operations of the one that is moved here. Example: `%s =
// arith.select %c, %x, %y {lowering.rare}` with `%x = math.log %z` becomes
// `%s = scf.if %c { %x = math.log %z; yield %x } else { yield %y } {lowering.rare}`.
#include "lib/lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace nereid::lowering {
namespace {

/// The operations of its block that only the first value of the select needs, last one first.
SmallVector<Operation *> neededByRareOnly(arith::SelectOp select) {
  Block *block = select->getBlock();
  llvm::DenseSet<Operation *> found;
  SmallVector<Operation *> inOrder;
  auto isNeededElsewhere = [&](OpOperand &use) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    return user == select ? use.getOperandNumber() != 1 : !found.contains(user);
  };
  for (Operation *op = select->getPrevNode(); op; op = op->getPrevNode()) {
    // What nobody needs moves, too, so that it holds nothing back.
    if (isMemoryEffectFree(op) && !op->hasTrait<OpTrait::ConstantLike>() &&
        llvm::none_of(op->getUses(), isNeededElsewhere)) {
      found.insert(op);
      inOrder.push_back(op);
    }
  }
  return inOrder;
}

void branchTo(arith::SelectOp select) {
  SmallVector<Operation *> moved = neededByRareOnly(select);
  select->removeAttr(rareAttribute);
  if (!llvm::is_contained(moved, select.getTrueValue().getDefiningOp())) {
    return;
  }
  OpBuilder b(select);
  const Location loc = select.getLoc();
  Value any = select.getCondition();
  const bool isVector = isa<VectorType>(any.getType());
  if (isVector) {
    any = b.create<vector::ReductionOp>(loc, vector::CombiningKind::OR, any);
  }
  auto branch = b.create<scf::IfOp>(loc, select.getType(), any, /*withElseRegion=*/true);
  branch->setAttr(rareAttribute, b.getUnitAttr());
  select.getResult().replaceAllUsesWith(branch.getResult(0));
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(loc, select.getFalseValue());
  b.setInsertionPointToStart(branch.thenBlock());
  auto yield = b.create<scf::YieldOp>(loc, isVector ? select.getResult() : select.getTrueValue());
  for (Operation *op : llvm::reverse(moved)) {
    op->moveBefore(yield);
  }
  if (isVector) {
    select->moveBefore(yield); // a lane's result does not depend on its neighbours
  } else {
    select->erase();
  }
}

class BranchToRarePass : public PassWrapper<BranchToRarePass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BranchToRarePass)

  StringRef getArgument() const override { return "branch-to-rare"; }
  StringRef getDescription() const override {
    return "compute what only few lanes need behind a branch";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    SmallVector<arith::SelectOp> found;
    getOperation()->walk([&](arith::SelectOp op) {
      if (op->hasAttr(rareAttribute)) {
        found.push_back(op);
      }
    });
    // The last one first: what another one needs moves along with it.
    for (arith::SelectOp op : llvm::reverse(found)) {
      branchTo(op);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createBranchToRarePass() { return std::make_unique<BranchToRarePass>(); }

} // namespace nereid::lowering
