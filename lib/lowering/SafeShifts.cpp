// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/SafeShifts.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

namespace nereid::lowering {

static bool isWithinWidth(const BinaryOperator *shift) {
  const DataLayout &layout = shift->getModule()->getDataLayout();
  KnownBits amount = computeKnownBits(shift->getOperand(1), layout);
  return amount.getMaxValue().ult(shift->getType()->getScalarSizeInBits());
}

void makeShiftsSafe(Function &function) {
  SmallVector<BinaryOperator *> shifts;
  for (Instruction &instruction : instructions(function)) {
    auto *binary = dyn_cast<BinaryOperator>(&instruction);
    if (binary && binary->isShift() && !isWithinWidth(binary)) {
      shifts.push_back(binary);
    }
  }
  for (BinaryOperator *shift : shifts) {
    IRBuilder<> builder(shift);
    Type *type = shift->getType();
    Value *amount = shift->getOperand(1);
    unsigned width = type->getScalarSizeInBits();
    if (shift->getOpcode() == Instruction::AShr) {
      Constant *most = ConstantInt::get(type, width - 1);
      shift->setOperand(1, builder.CreateBinaryIntrinsic(Intrinsic::umin, amount, most));
      continue;
    }
    // An amount of i1 is 0 or 1, which is its width already: the constant would not fit the type.
    Value *isWithin = width == 1 ? builder.CreateIsNull(amount)
                                 : builder.CreateICmpULT(amount, ConstantInt::get(type, width));
    // The select takes no lane of a shift without a result.
    builder.SetInsertPoint(shift->getNextNode());
    auto *result =
        cast<Instruction>(builder.CreateSelect(isWithin, shift, Constant::getNullValue(type)));
    shift->replaceUsesWithIf(result, [&](Use &use) { return use.getUser() != result; });
  }
}

} // namespace nereid::lowering
