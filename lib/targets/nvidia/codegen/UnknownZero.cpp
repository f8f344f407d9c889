// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/UnknownZero.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace nereid::nvidia {

/// No device has 2^16 warps on a multiprocessor, but neither LLVM nor ptxas knows that.
static llvm::Value *unknownZero(llvm::Function &function) {
  llvm::IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
  auto *type = llvm::FunctionType::get(b.getInt32Ty(), false);
  auto *number = llvm::InlineAsm::get(type, "mov.u32 $0, %nwarpid;", "=r", /*sideEffects=*/false);
  return b.CreateLShr(b.CreateCall(type, number), 16);
}

void addUnknownZero(llvm::Function &function, llvm::ArrayRef<llvm::Instruction *> instructions) {
  if (instructions.empty()) {
    return;
  }
  llvm::Value *zero = unknownZero(function);
  for (llvm::Instruction *instruction : instructions) {
    llvm::IRBuilder<> b(instruction->getNextNode());
    auto *sum = llvm::cast<llvm::Instruction>(
        b.CreateAdd(instruction, b.CreateTrunc(zero, instruction->getType())));
    instruction->replaceUsesWithIf(sum, [&](llvm::Use &use) { return use.getUser() != sum; });
  }
}

} // namespace nereid::nvidia
