// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/NarrowDivisions.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"

namespace nereid::nvidia {

/// PTX ISA, "%ctaid", "%nctaid": a grid has less than 2^31 programs along x, 2^16 along y and z.
static bool isOfGrid(const llvm::IntrinsicInst &read) {
  switch (read.getIntrinsicID()) {
  case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
  case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
  case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
  case llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
  case llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
  case llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    return true;
  default:
    return false;
  }
}

void narrowDivisions(llvm::Function &function, codegen::Analyses &analyses) {
  bool hasWide = false;
  llvm::MDBuilder metadata(function.getContext());
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    if (auto *read = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction); read && isOfGrid(*read)) {
      read->setMetadata(llvm::LLVMContext::MD_range,
                        metadata.createRange(llvm::APInt(32, 0), llvm::APInt(32, 0x80000000U)));
    }
    hasWide |= llvm::isa<llvm::BinaryOperator>(instruction) &&
               llvm::cast<llvm::BinaryOperator>(instruction).isIntDivRem() &&
               instruction.getType()->isIntegerTy(64);
  }
  if (!hasWide) {
    return;
  }
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::CorrelatedValuePropagationPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setVerifyFixpoint(false)));
  passes.run(function, analyses.functions);
}

} // namespace nereid::nvidia
