// SPDX-License-Identifier: Apache-2.0
// With a and b without their signs, floor((a + 1/2) / b) is floor(a / b), and (a + 1/2) / b is at
// least 1 / (2 b) away from the next integers. The reciprocal of b is off by 2^-23 of itself at
// most, which moves that by less as a < 2^22. The product is added to 3 * 2^22 and rounded
// downwards, to an integer, in one instruction; that sum has the quotient in its low bits.
#include "lib/targets/nvidia/codegen/SmallDivisions.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace nereid::nvidia {
namespace {

constexpr double roundingMagic = 12582912.0; // 3 * 2^22, of which the low 16 bits are 0
constexpr uint32_t signBit = 0x80000000;

class SmallDivision {
public:
  explicit SmallDivision(llvm::BinaryOperator &division)
      : division(division), b(&division),
        isSigned(division.getOpcode() == llvm::Instruction::SDiv ||
                 division.getOpcode() == llvm::Instruction::SRem) {}

  llvm::Value *result() {
    llvm::Value *dividend = asFloat(division.getOperand(0)),
                *divisor = asFloat(division.getOperand(1));
    llvm::Value *a = magnitude(dividend), *by = magnitude(divisor);
    llvm::Value *inverse = call(llvm::Intrinsic::nvvm_rcp_approx_ftz_f, {by});
    llvm::Value *whole = call(llvm::Intrinsic::nvvm_fma_rm_f,
                              {b.CreateFAdd(a, number(0.5)), inverse, number(roundingMagic)});
    llvm::Value *quotient = b.CreateFSub(whole, number(roundingMagic));
    const bool isRemainder = division.getOpcode() == llvm::Instruction::SRem ||
                             division.getOpcode() == llvm::Instruction::URem;
    if (!isRemainder) {
      return isSigned ? lowBits(plusMagic(quotient, b.CreateXor(bitsOf(dividend), bitsOf(divisor))))
                      : lowBits(whole);
    }
    llvm::Value *rest =
        call(llvm::Intrinsic::nvvm_fma_rn_f, {b.CreateFNeg(quotient), by, a}); // exact
    return lowBits(plusMagic(rest, isSigned ? bitsOf(dividend) : nullptr));
  }

private:
  llvm::Value *number(double value) { return llvm::ConstantFP::get(b.getFloatTy(), value); }
  llvm::Value *call(llvm::Intrinsic::ID function, llvm::ArrayRef<llvm::Value *> arguments) {
    return b.CreateIntrinsic(b.getFloatTy(), function, arguments);
  }
  llvm::Value *bitsOf(llvm::Value *value) { return b.CreateBitCast(value, b.getInt32Ty()); }

  llvm::Value *asFloat(llvm::Value *integer) {
    return isSigned ? b.CreateSIToFP(b.CreateSExt(integer, b.getInt32Ty()), b.getFloatTy())
                    : b.CreateUIToFP(b.CreateZExt(integer, b.getInt32Ty()), b.getFloatTy());
  }

  llvm::Value *magnitude(llvm::Value *value) {
    return isSigned ? b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value) : value;
  }

  /// A number of at least 0, with the sign that is the first one of these bits, beside the magic.
  llvm::Value *plusMagic(llvm::Value *value, llvm::Value *sign) {
    if (sign) {
      llvm::Value *bits = b.CreateOr(bitsOf(value), b.CreateAnd(sign, b.getInt32(signBit)));
      value = b.CreateBitCast(bits, b.getFloatTy());
    }
    return b.CreateFAdd(value, number(roundingMagic));
  }

  llvm::Value *lowBits(llvm::Value *sum) { return b.CreateTrunc(bitsOf(sum), division.getType()); }

  llvm::BinaryOperator &division;
  llvm::IRBuilder<> b;
  bool isSigned;
};

bool isSmall(const llvm::BinaryOperator &division) {
  const llvm::Type *type = division.getType();
  // By a constant they are products.
  return (type->isIntegerTy(8) || type->isIntegerTy(16)) && division.isIntDivRem() &&
         !llvm::isa<llvm::Constant>(division.getOperand(1));
}

} // namespace

void divideSmallIntegers(llvm::Function &function) {
  llvm::SmallVector<llvm::BinaryOperator *> divisions;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
        binary && isSmall(*binary)) {
      divisions.push_back(binary);
    }
  }
  for (llvm::BinaryOperator *division : divisions) {
    division->replaceAllUsesWith(SmallDivision(*division).result());
    division->eraseFromParent();
  }
}

} // namespace nereid::nvidia
