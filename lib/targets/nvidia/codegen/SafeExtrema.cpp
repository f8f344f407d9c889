// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/SafeExtrema.h"

#include "lib/targets/nvidia/codegen/UnknownZero.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace nereid::nvidia {

void makeExtremaSafe(llvm::Function &function) {
  llvm::SmallVector<llvm::Instruction *> extrema;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
    if (call && call->isSigned() && call->getType()->isIntegerTy() &&
        call->getType()->getIntegerBitWidth() <= 32) {
      extrema.push_back(call);
    }
  }
  addUnknownZero(function, extrema);
}

} // namespace nereid::nvidia
