// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/combine/ApproximateQuotients.h"

#include "lib/lowering/Passes.h"
#include "lib/lowering/math/Approximated.h"
#include "lib/targets/nvidia/ir/Nvidia.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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

class ApproximatedTiles final : public lowering::ApproximatedValues {
  bool isOrigin(Value value) const override {
    Operation *op = value.getDefiningOp();
    return isa_and_present<tile::DotOp>(op) ||
           combinesWithRounding(op ? op : value.getParentBlock()->getParentOp());
  }
  bool isHandedOn(Operation *op) const override {
    return isa<tile::ReduceOp, tile::ScanOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp,
               tile::TransOp, tile::SplatOp, tile::UnsplatOp, tile::MaxNumOp, tile::MinNumOp,
               ConvertLayoutOp, AwaitProductOp>(op);
  }
};

} // namespace

void markApproximateQuotients(func::FuncOp kernel) {
  ApproximatedTiles approximated;
  kernel.walk([&](arith::DivFOp quotient) {
    if (tile::elementTypeOf(quotient.getType()).isF32() &&
        (approximated.contains(quotient.getLhs()) || approximated.contains(quotient.getRhs()))) {
      quotient->setAttr(lowering::approximateAttribute, UnitAttr::get(kernel.getContext()));
    }
  });
}

} // namespace nereid::nvidia
