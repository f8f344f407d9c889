// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/math/Approximated.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace nereid::lowering {

bool ApproximatedValues::contains(Value value) {
  if (!isa<FloatType>(getElementTypeOrSelf(value))) {
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

/// Whether the value is what additions, products or quotients have rounded.
static bool isRounded(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    return isRounded(select.getTrueValue()) || isRounded(select.getFalseValue());
  }
  if (auto loop = dyn_cast_or_null<scf::ForOp>(op)) {
    return isRounded(loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()]);
  }
  return isa_and_present<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, math::FmaOp>(
      op);
}

bool ApproximatedValues::find(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *initial = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!initial) {
      return isOrigin(value);
    }
    Value handed = loop.getTiedLoopYieldedValue(argument)->get();
    return isRounded(handed) || contains(initial->get()) || contains(handed);
  }
  Operation *op = value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return contains(loop.getRegionIterArgs()[cast<OpResult>(value).getResultNumber()]);
  }
  if (isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::TanhOp,
          math::ErfOp, math::RsqrtOp>(op)) {
    return true;
  }
  if (isOrigin(value)) {
    return true;
  }
  const bool isArithmetic =
      isHandedOn(op) ||
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
          arith::SelectOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::ExtFOp, arith::TruncFOp, math::AbsFOp, math::FmaOp, math::SqrtOp, math::Log1pOp>(
          op);
  return isArithmetic && llvm::any_of(op->getOperands(), [&](Value one) { return contains(one); });
}

} // namespace nereid::lowering
