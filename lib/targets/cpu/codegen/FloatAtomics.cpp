// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/codegen/FloatAtomics.h"

#include "llvm/CodeGen/AtomicExpandUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace nereid::cpu {
namespace {

void exchangeAsInteger(llvm::IRBuilderBase &builder, llvm::Value *address, llvm::Value *expected,
                       llvm::Value *wanted, llvm::Align alignment, llvm::AtomicOrdering ordering,
                       llvm::SyncScope::ID scope, llvm::Value *&success, llvm::Value *&found) {
  llvm::Type *type = wanted->getType();
  llvm::Type *bits = builder.getIntNTy(type->getPrimitiveSizeInBits());
  llvm::Value *pair = builder.CreateAtomicCmpXchg(
      address, builder.CreateBitCast(expected, bits), builder.CreateBitCast(wanted, bits),
      alignment, ordering, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering), scope);
  success = builder.CreateExtractValue(pair, 1);
  found = builder.CreateBitCast(builder.CreateExtractValue(pair, 0), type);
}

} // namespace

void expandFloatAtomics(llvm::Module &module) {
  llvm::SmallVector<llvm::AtomicRMWInst *> found;
  for (llvm::Function &function : module) {
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      if (atomic && atomic->isFloatingPointOperation()) {
        found.push_back(atomic);
      }
    }
  }
  for (llvm::AtomicRMWInst *atomic : found) {
    llvm::expandAtomicRMWToCmpXchg(atomic, exchangeAsInteger);
  }
}

} // namespace nereid::cpu
