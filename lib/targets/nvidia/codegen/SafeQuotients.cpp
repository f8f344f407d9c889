// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/SafeQuotients.h"

#include "lib/targets/nvidia/codegen/UnknownZero.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

namespace nereid::nvidia {

using namespace llvm::PatternMatch;

/// Whether the code generator makes the upper half of a product of it.
static bool isUpperHalf(llvm::Instruction &instruction) {
  const llvm::APInt *divisor = nullptr;
  if (match(&instruction, m_CombineOr(m_SDiv(m_Value(), m_APInt(divisor)),
                                      m_UDiv(m_Value(), m_APInt(divisor))))) {
    return !divisor->isPowerOf2();
  }
  return match(&instruction, m_Trunc(m_LShr(m_Mul(m_Value(), m_Value()), m_SpecificInt(32))));
}

void makeQuotientsSafe(llvm::Function &function) {
  llvm::SmallVector<llvm::Instruction *> found;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    const bool isWord =
        instruction.getType()->isIntegerTy() && instruction.getType()->getIntegerBitWidth() <= 32;
    if (isWord && isUpperHalf(instruction) && llvm::any_of(instruction.users(), [](auto *user) {
          return match(user, m_Add(m_Value(), m_Value())) ||
                 match(user, m_Sub(m_Value(), m_Value()));
        })) {
      found.push_back(&instruction);
    }
  }
  addUnknownZero(function, found);
}

} // namespace nereid::nvidia
