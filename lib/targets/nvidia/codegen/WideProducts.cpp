// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/WideProducts.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/Local.h"

#include <optional>

namespace nereid::nvidia {

using namespace llvm::PatternMatch;

namespace {

/// A product of two factors of 32 bits: its upper half, its lower one.
struct Halves {
  llvm::Instruction *high, *low;
};

/// The number of 32 bits that was widened without its sign; null for others.
llvm::Value *narrow(llvm::Value *wide) {
  llvm::Value *number = nullptr;
  if (match(wide, m_ZExt(m_Value(number)))) {
    return number->getType()->isIntegerTy(32) ? number : nullptr;
  }
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(wide);
  return constant && llvm::isUInt<32>(constant->getZExtValue())
             ? llvm::ConstantInt::get(llvm::Type::getInt32Ty(wide->getContext()),
                                      constant->getZExtValue())
             : nullptr;
}

std::optional<Halves> halvesAt(llvm::Instruction &high) {
  llvm::Value *left = nullptr, *right = nullptr;
  if (!high.getType()->isIntegerTy(32) ||
      !match(&high, m_Trunc(m_LShr(m_Mul(m_Value(left), m_Value(right)), m_SpecificInt(32))))) {
    return std::nullopt;
  }
  llvm::Value *a = narrow(left), *b = narrow(right);
  if (!a || !b || llvm::isa<llvm::Constant>(a)) {
    return std::nullopt;
  }
  for (llvm::User *user : a->users()) {
    auto *low = llvm::dyn_cast<llvm::Instruction>(user);
    if (low && low->getParent() == high.getParent() &&
        match(low, m_c_Mul(m_Specific(a), m_Specific(b)))) {
      return Halves{&high, low};
    }
  }
  return std::nullopt;
}

void join(const Halves &halves) {
  llvm::Value *a = halves.low->getOperand(0), *b = halves.low->getOperand(1);
  llvm::IRBuilder<> builder(halves.low->comesBefore(halves.high) ? halves.low : halves.high);
  llvm::Type *word = builder.getInt32Ty();
  auto *type = llvm::FunctionType::get(llvm::StructType::get(word, word), {word, word}, false);
  auto *product = llvm::InlineAsm::get(
      type, "{.reg .b64 both; mul.wide.u32 both, $2, $3; mov.b64 {$0, $1}, both;}", "=r,=r,r,r",
      /*hasSideEffects=*/false);
  llvm::Value *both = builder.CreateCall(product, {a, b});
  halves.low->replaceAllUsesWith(builder.CreateExtractValue(both, 0));
  halves.high->replaceAllUsesWith(builder.CreateExtractValue(both, 1));
}

} // namespace

void joinHalvesOfProducts(llvm::Function &function) {
  llvm::SmallVector<llvm::WeakTrackingVH> replaced;
  for (llvm::Instruction &high : llvm::instructions(function)) {
    const std::optional<Halves> halves = high.use_empty() ? std::nullopt : halvesAt(high);
    if (halves && !halves->low->use_empty()) {
      join(*halves);
      replaced.push_back(halves->high);
      replaced.push_back(halves->low);
    }
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(replaced);
}

} // namespace nereid::nvidia
