// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/OnlyForHalves.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace nereid::lowering {

bool isOneAndPower(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  auto isPower = [](Value term) {
    return isa_and_present<math::ExpOp, math::Exp2Op>(term.getDefiningOp());
  };
  return sum && ((matchPattern(sum.getLhs(), m_OneFloat()) && isPower(sum.getRhs())) ||
                 (matchPattern(sum.getRhs(), m_OneFloat()) && isPower(sum.getLhs())));
}

bool roundsToHalf(Operation *op) {
  return isa<arith::TruncFOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth() == 16;
}

static bool isOnlyForHalves(Value value, int depth) {
  constexpr int deepest = 6;
  return depth < deepest && !value.use_empty() &&
         llvm::all_of(
             value.getUsers(),
             [&](Operation *user) {
               if (roundsToHalf(user)) {
                 return true;
               }
               const bool isHandedOn =
                   isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, math::AbsFOp>(user) ||
                   (isa<arith::AddFOp>(user) && isOneAndPower(user->getResult(0)));
               return isHandedOn && isOnlyForHalves(user->getResult(0), depth + 1);
             });
}

bool isOnlyForHalves(Value value) { return isOnlyForHalves(value, 0); }

} // namespace nereid::lowering
