// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/SafeDivision.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace nereid::lowering {

/// A constant, in every element neither 0 nor -1.
static bool isHarmless(Value *divisor) {
  return match(divisor, PatternMatch::m_CheckedInt([](const APInt &value) {
                 return !value.isZero() && !value.isAllOnes();
               }));
}

/// By a divisor that is neither 0 nor -1: the processor divides integers one by one. Quotients of
/// 32-bit numbers are exact in float64, where the next integer is farther away than the rounding.
static void divideLanes(BinaryOperator *division) {
  auto *type = cast<FixedVectorType>(division->getType());
  IRBuilder<> builder(division);
  Type *wide = FixedVectorType::get(builder.getDoubleTy(), type->getNumElements());
  Value *dividend = division->getOperand(0), *divisor = division->getOperand(1);
  Value *quotient =
      builder.CreateFDiv(builder.CreateSIToFP(dividend, wide), builder.CreateSIToFP(divisor, wide));
  Value *result = builder.CreateFPToSI(quotient, type);
  if (division->getOpcode() == Instruction::SRem) {
    result = builder.CreateSub(dividend, builder.CreateMul(result, divisor));
  }
  division->replaceAllUsesWith(result);
  division->eraseFromParent();
}

static bool isOfLanes(const BinaryOperator *division) {
  auto *type = dyn_cast<FixedVectorType>(division->getType());
  const unsigned opcode = division->getOpcode();
  return type && type->getElementType()->isIntegerTy(32) &&
         (opcode == Instruction::SDiv || opcode == Instruction::SRem);
}

void makeDivisionsSafe(Function &function, bool inFloat) {
  SmallVector<BinaryOperator *> divisions;
  for (Instruction &instruction : instructions(function)) {
    auto *binary = dyn_cast<BinaryOperator>(&instruction);
    if (binary && binary->isIntDivRem() && !isHarmless(binary->getOperand(1))) {
      divisions.push_back(binary);
    }
  }
  for (BinaryOperator *division : divisions) {
    IRBuilder<> builder(division);
    Value *dividend = division->getOperand(0), *divisor = division->getOperand(1);
    Type *type = division->getType();
    Constant *one = ConstantInt::get(type, 1);
    Value *isBad = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
    unsigned opcode = division->getOpcode();
    if (opcode == Instruction::UDiv || opcode == Instruction::URem) {
      division->setOperand(1, builder.CreateSelect(isBad, one, divisor));
      continue;
    }
    Value *isMinusOne = builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type));
    division->setOperand(1,
                         builder.CreateSelect(builder.CreateOr(isBad, isMinusOne), one, divisor));
    if (opcode == Instruction::SDiv) {
      // The remainder by 1 is the one by -1 already; the quotient has the other sign.
      builder.SetInsertPoint(division->getNextNode());
      auto *result = cast<Instruction>(
          builder.CreateSelect(isMinusOne, builder.CreateNeg(dividend), division));
      division->replaceUsesWithIf(result, [&](Use &use) { return use.getUser() != result; });
    }
    if (inFloat && isOfLanes(division)) {
      divideLanes(division);
    }
  }
}

} // namespace nereid::lowering
