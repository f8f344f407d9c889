// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/PairedRoundings.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace nereid::nvidia {

using namespace llvm::PatternMatch;

namespace {

/// A rounding of float32 to 16 bits; null for anything else.
llvm::FPTruncInst *roundingOf(llvm::Value *value) {
  auto *rounding = llvm::dyn_cast<llvm::FPTruncInst>(value);
  return rounding && rounding->getSrcTy()->isFloatTy() &&
                 (rounding->getDestTy()->isHalfTy() || rounding->getDestTy()->isBFloatTy())
             ? rounding
             : nullptr;
}

/// That of which the bits are the lower half of `word`, 0 above them.
llvm::FPTruncInst *roundedIn(llvm::Value *word) {
  llvm::Value *half = nullptr;
  return match(word, m_ZExt(m_BitCast(m_Value(half)))) ? roundingOf(half) : nullptr;
}

/// Both numbers, rounded, in one register.
llvm::Value *pairOf(llvm::IRBuilder<> &builder, llvm::Type *format, llvm::Value *high,
                    llvm::Value *low) {
  const auto pair =
      format->isHalfTy() ? llvm::Intrinsic::nvvm_ff2f16x2_rn : llvm::Intrinsic::nvvm_ff2bf16x2_rn;
  return builder.CreateIntrinsic(pair, {}, {high, low});
}

} // namespace

void pairRoundings(llvm::Function &function) {
  llvm::SmallVector<llvm::WeakTrackingVH> replaced;
  for (llvm::Instruction &word : llvm::instructions(function)) {
    llvm::Value *lower = nullptr, *upper = nullptr;
    if (!word.getType()->isIntegerTy(32) ||
        !match(&word, m_c_Or(m_Shl(m_Value(upper), m_SpecificInt(16)), m_Value(lower)))) {
      continue;
    }
    llvm::FPTruncInst *low = roundedIn(lower), *high = roundedIn(upper);
    if (!low || !high || low->getDestTy() != high->getDestTy()) {
      continue;
    }
    llvm::IRBuilder<> builder(&word);
    llvm::Value *both = pairOf(builder, low->getDestTy(), high->getOperand(0), low->getOperand(0));
    word.replaceAllUsesWith(builder.CreateBitCast(both, word.getType()));
    replaced.push_back(&word);
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(replaced);
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (llvm::FPTruncInst *single = roundingOf(&instruction)) {
      llvm::IRBuilder<> builder(single);
      llvm::Value *both =
          pairOf(builder, single->getDestTy(), llvm::ConstantFP::getZero(single->getSrcTy()),
                 single->getOperand(0));
      single->replaceAllUsesWith(builder.CreateExtractElement(both, uint64_t{0}));
      single->eraseFromParent();
    }
  }
}

} // namespace nereid::nvidia
