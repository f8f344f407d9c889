// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/OperandLayouts.h"

#include "lib/targets/nvidia/ir/Nvidia.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::LinearLayout;

bool worksInAnyLayout(Operation *op) {
  return isa<tile::MakeRangeOp, tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp,
             tile::ReshapeOp, tile::TransOp, tile::JoinOp, tile::SplitOp, tile::AddPtrOp,
             tile::PtrToIntOp, tile::IntToPtrOp, tile::PtrCastOp, arith::ConstantOp>(op) ||
         (OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0);
}

LinearLayout operandLayout(Operation *op, unsigned operand, const LinearLayout &result) {
  const LinearLayout::Shape shape = shapeOf(op->getOperand(operand));
  return llvm::TypeSwitch<Operation *, LinearLayout>(op)
      .Case([&](tile::BroadcastOp) { return result.projectedTo(shape); })
      .Case<tile::ExpandDimsOp, tile::ReshapeOp>([&](auto) { return result.reshaped(shape); })
      .Case([&](tile::TransOp trans) {
        SmallVector<int32_t> inverse(trans.getOrder().size());
        for (auto [to, from] : llvm::enumerate(trans.getOrder())) {
          inverse[static_cast<size_t>(from)] = static_cast<int32_t>(to);
        }
        return result.transposed(inverse);
      })
      .Case([&](tile::JoinOp) { return result.halved(); })
      .Case([&](tile::SplitOp) { return result.doubled(); })
      .Default(result);
}

LinearLayout resultLayout(Operation *op, const LinearLayout &operand) {
  const LinearLayout::Shape shape = shapeOf(op->getResult(0));
  return llvm::TypeSwitch<Operation *, LinearLayout>(op)
      .Case<tile::ExpandDimsOp, tile::ReshapeOp>([&](auto) { return operand.reshaped(shape); })
      .Case([&](tile::TransOp trans) { return operand.transposed(trans.getOrder()); })
      .Case([&](tile::JoinOp) { return operand.doubled(); })
      .Case([&](tile::SplitOp) { return operand.halved(); })
      .Default(operand);
}

} // namespace nereid::nvidia
