// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/math/Approximated.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nereid::lowering {

bool ApproximatedValues::contains(Value value) {
  if (!isa<FloatType>(value.getType())) {
    return false;
  }
  auto [entry, isNew] = known.try_emplace(value, false); // of a cycle: what else goes into it
  if (!isNew) {
    return entry->second;
  }
  const bool found = find(value);
  known[value] = found;
  return found;
}

bool ApproximatedValues::find(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *initial = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return initial &&
           (contains(initial->get()) || contains(loop.getTiedLoopYieldedValue(argument)->get()));
  }
  Operation *op = value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return contains(loop.getRegionIterArgs()[cast<OpResult>(value).getResultNumber()]);
  }
  if (isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::TanhOp,
          math::ErfOp, math::RsqrtOp>(op)) {
    return true;
  }
  const bool isArithmetic =
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
          arith::SelectOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::ExtFOp, arith::TruncFOp, math::AbsFOp, math::FmaOp, math::SqrtOp>(op);
  return isArithmetic && llvm::any_of(op->getOperands(), [&](Value one) { return contains(one); });
}

} // namespace nereid::lowering
