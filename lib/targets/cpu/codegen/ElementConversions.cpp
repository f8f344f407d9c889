// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/codegen/ElementConversions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace nereid::cpu {
namespace {

bool roundsTowardsZero(const llvm::Instruction &instruction) {
  if (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction)) {
    return true;
  }
  const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::trunc;
}

bool roundsWideIntegers(const llvm::Instruction &instruction) {
  return llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(instruction) &&
         instruction.getOperand(0)->getType()->getScalarSizeInBits() == 64 &&
         instruction.getType()->getScalarSizeInBits() < 64;
}

llvm::Value *ofElement(llvm::IRBuilder<> &builder, llvm::Instruction &instruction,
                       llvm::Value *element) {
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    return builder.CreateCast(cast->getOpcode(), element, cast->getType()->getScalarType());
  }
  return builder.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, element);
}

void splitVectors(llvm::Module &module, bool (*mustSplit)(const llvm::Instruction &)) {
  for (llvm::Function &function : module) {
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
      if (!type || !mustSplit(instruction)) {
        continue;
      }
      llvm::IRBuilder<> builder(&instruction);
      llvm::Value *result = llvm::PoisonValue::get(type);
      for (unsigned i = 0; i < type->getNumElements(); ++i) {
        llvm::Value *element = builder.CreateExtractElement(instruction.getOperand(0), i);
        result = builder.CreateInsertElement(result, ofElement(builder, instruction, element), i);
      }
      instruction.replaceAllUsesWith(result);
      instruction.eraseFromParent();
    }
  }
}

} // namespace

void truncateElementByElement(llvm::Module &module) { splitVectors(module, roundsTowardsZero); }

void roundWideIntegersElementByElement(llvm::Module &module) {
  splitVectors(module, roundsWideIntegers);
}

} // namespace nereid::cpu
