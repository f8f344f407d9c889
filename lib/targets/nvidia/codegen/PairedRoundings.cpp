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

/// The number of which `half`, 16 bits in a word of 32, is what rounding leaves; null for others.
struct Rounded {
  llvm::Value *number = nullptr;
  llvm::Type *format = nullptr;

  explicit Rounded(llvm::Value *half) {
    llvm::Value *rounded = nullptr;
    if (match(half, m_ZExt(m_BitCast(m_Value(rounded)))) && match(rounded, m_FPTrunc(m_Value())) &&
        (rounded->getType()->isHalfTy() || rounded->getType()->isBFloatTy())) {
      llvm::Value *from = llvm::cast<llvm::Instruction>(rounded)->getOperand(0);
      if (from->getType()->isFloatTy()) {
        number = from;
        format = rounded->getType();
      }
    }
  }
};

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
    const Rounded low(lower), high(upper);
    if (!low.number || !high.number || low.format != high.format) {
      continue;
    }
    llvm::IRBuilder<> builder(&word);
    llvm::Value *both = pairOf(builder, low.format, high.number, low.number);
    word.replaceAllUsesWith(builder.CreateBitCast(both, word.getType()));
    replaced.push_back(&word);
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(replaced);
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *single = llvm::dyn_cast<llvm::FPTruncInst>(&instruction);
    if (single && single->getSrcTy()->isFloatTy() &&
        (single->getDestTy()->isHalfTy() || single->getDestTy()->isBFloatTy())) {
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
