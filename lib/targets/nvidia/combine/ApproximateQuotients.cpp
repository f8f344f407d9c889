// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/combine/ApproximateQuotients.h"

#include "lib/lowering/Passes.h"
#include "lib/lowering/math/Approximated.h"
#include "lib/targets/nvidia/ir/Nvidia.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

/// Whether the operation combines many numbers, and rounds each time.
bool combinesWithRounding(Operation *op) {
  if (!isa_and_present<tile::ReduceOp, tile::ScanOp>(op)) {
    return false;
  }
  return llvm::any_of(op->getRegion(0).front(), [](Operation &inner) {
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, math::FmaOp>(inner);
  });
}

/// Whether the operation is a power that no few products make.
bool isPowerByUnit(Operation *op) {
  auto power = dyn_cast_or_null<math::PowFOp>(op);
  if (!power) {
    return false;
  }
  APFloat exponent(0.0);
  return !matchPattern(power.getRhs(), m_ConstantFloat(&exponent)) || !exponent.isInteger();
}

class ApproximatedTiles final : public lowering::ApproximatedValues {
  bool isOrigin(Value value) const override {
    Operation *op = value.getDefiningOp();
    return isa_and_present<tile::DotOp>(op) || isPowerByUnit(op) ||
           combinesWithRounding(op ? op : value.getParentBlock()->getParentOp());
  }
  bool isHandedOn(Operation *op) const override {
    return isa<tile::ReduceOp, tile::ScanOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp,
               tile::TransOp, tile::SplatOp, tile::UnsplatOp, tile::MaxNumOp, tile::MinNumOp,
               ConvertLayoutOp, AwaitProductOp>(op);
  }
};

/// Whether the value goes into nothing but functions that are off by more themselves, and pass on
/// no more of their argument's relative error than there is.
bool isForTamingFunctions(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<math::TanhOp, math::ErfOp>(user);
  });
}

} // namespace

void markApproximateQuotients(func::FuncOp kernel) {
  ApproximatedTiles approximated;
  kernel.walk([&](arith::DivFOp quotient) {
    if (tile::elementTypeOf(quotient.getType()).isF32() &&
        (approximated.contains(quotient.getLhs()) || approximated.contains(quotient.getRhs()) ||
         isForTamingFunctions(quotient.getResult()))) {
      quotient->setAttr(lowering::approximateAttribute, UnitAttr::get(kernel.getContext()));
    }
  });
}

} // namespace nereid::nvidia
