// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/SafeExtrema.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace nereid::nvidia {

/// No device has 2^16 warps on a multiprocessor, but neither LLVM nor ptxas knows that.
static llvm::Value *unknownZero(llvm::Function &function) {
  llvm::IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
  auto *type = llvm::FunctionType::get(b.getInt32Ty(), false);
  auto *number = llvm::InlineAsm::get(type, "mov.u32 $0, %nwarpid;", "=r", /*sideEffects=*/false);
  return b.CreateLShr(b.CreateCall(type, number), 16);
}

void makeExtremaSafe(llvm::Function &function) {
  llvm::SmallVector<llvm::Instruction *> extrema;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
    if (call && call->isSigned() && call->getType()->isIntegerTy() &&
        call->getType()->getIntegerBitWidth() <= 32) {
      extrema.push_back(call);
    }
  }
  if (extrema.empty()) {
    return;
  }
  llvm::Value *zero = unknownZero(function);
  for (llvm::Instruction *extremum : extrema) {
    llvm::IRBuilder<> b(extremum->getNextNode());
    auto *sum = llvm::cast<llvm::Instruction>(
        b.CreateAdd(extremum, b.CreateTrunc(zero, extremum->getType())));
    extremum->replaceUsesWithIf(sum, [&](llvm::Use &use) { return use.getUser() != sum; });
  }
}

} // namespace nereid::nvidia
