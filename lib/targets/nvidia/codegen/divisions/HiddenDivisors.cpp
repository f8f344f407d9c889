// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/divisions/HiddenDivisors.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

namespace nereid::nvidia {
namespace {

/// A copy that ptxas sees through, and LLVM does not.
constexpr const char *copyText = "mov.b32 $0, $1;";

} // namespace

void hideDivisors(llvm::Function &function) {
  llvm::SmallVector<llvm::BinaryOperator *> divisions;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
    if (binary && binary->isIntDivRem() && binary->getType()->isIntegerTy(32) &&
        !llvm::isa<llvm::Constant>(binary->getOperand(1))) {
      divisions.push_back(binary);
    }
  }
  llvm::Type *word = llvm::Type::getInt32Ty(function.getContext());
  auto *type = llvm::FunctionType::get(word, {word}, /*isVarArg=*/false);
  for (llvm::BinaryOperator *division : divisions) {
    llvm::IRBuilder<> b(division);
    auto *copy = llvm::InlineAsm::get(type, copyText, "=r,r", /*hasSideEffects=*/false);
    llvm::CallInst *call = b.CreateCall(type, copy, {division->getOperand(1)});
    call->setDoesNotAccessMemory(); // so that those of one number become one
    call->setDoesNotThrow();
    division->setOperand(1, call);
  }
}

bool isDivisorHidden(const llvm::BinaryOperator &division) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(division.getOperand(1));
  auto *copy = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return copy && copy->getAsmString() == copyText;
}

} // namespace nereid::nvidia
