// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/Branches.h"

#include "lib/lowering/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace nereid::lowering {

mlir::Value isAny(Lanes condition) {
  if (!mlir::isa<mlir::VectorType>(condition.type())) {
    return condition.get();
  }
  LanesContext &where = condition.where();
  return where.builder.create<mlir::vector::ReductionOp>(where.loc, mlir::vector::CombiningKind::OR,
                                                         condition.get());
}

Lanes unlessRare(Lanes isRare, Lanes usual, llvm::function_ref<Lanes()> rare) {
  LanesContext &where = usual.where();
  mlir::OpBuilder &b = where.builder;
  auto branch = b.create<mlir::scf::IfOp>(where.loc, usual.type(), isAny(isRare),
                                          /*withElseRegion=*/true);
  branch->setAttr(rareAttribute, b.getUnitAttr());
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<mlir::scf::YieldOp>(where.loc, usual.get());
  b.setInsertionPointToStart(branch.thenBlock());
  // A lane's result does not depend on its neighbours.
  const bool isVector = mlir::isa<mlir::VectorType>(usual.type());
  Lanes mixed = isVector ? select(isRare, rare(), usual) : rare();
  b.create<mlir::scf::YieldOp>(where.loc, mixed.get());
  return Lanes(where, branch.getResult(0));
}

} // namespace nereid::lowering
