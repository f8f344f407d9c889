// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/codegen/ScalarOptimizations.h"

#include "lib/llvm/Analyses.h"
#include "lib/lowering/SafeDivision.h"
#include "lib/lowering/SafeShifts.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace nereid::cpu {

/// InstCombine narrows what stands between two conversions to f16. The code generator knows nothing
/// but a call of fmaxf for an extremum of f16, and finds one in a select beside a comparison too.
/// So extrema go back to float32, which gives the same number, and selects choose between bits.
static void removeHalfExtrema(Function &function) {
  SmallVector<IntrinsicInst *> extrema;
  SmallVector<SelectInst *> selects;
  for (Instruction &instruction : instructions(function)) {
    if (!instruction.getType()->getScalarType()->isHalfTy()) {
      continue;
    }
    if (auto *select = dyn_cast<SelectInst>(&instruction)) {
      selects.push_back(select);
    } else if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
      Intrinsic::ID id = call->getIntrinsicID();
      if (id == Intrinsic::maxnum || id == Intrinsic::minnum || id == Intrinsic::maximum ||
          id == Intrinsic::minimum) {
        extrema.push_back(call);
      }
    }
  }
  for (IntrinsicInst *call : extrema) {
    IRBuilder<> builder(call);
    Type *wide = call->getType()->getWithNewType(builder.getFloatTy());
    Value *result = builder.CreateBinaryIntrinsic(
        call->getIntrinsicID(), builder.CreateFPExt(call->getArgOperand(0), wide),
        builder.CreateFPExt(call->getArgOperand(1), wide));
    call->replaceAllUsesWith(builder.CreateFPTrunc(result, call->getType()));
    call->eraseFromParent();
  }
  for (SelectInst *select : selects) {
    IRBuilder<> builder(select);
    Type *bits = select->getType()->getWithNewType(builder.getInt16Ty());
    Value *result = builder.CreateSelect(select->getCondition(),
                                         builder.CreateBitCast(select->getTrueValue(), bits),
                                         builder.CreateBitCast(select->getFalseValue(), bits));
    select->replaceAllUsesWith(builder.CreateBitCast(result, select->getType()));
    select->eraseFromParent();
  }
}

/// Copies that keep a value in a register (see the lowering's keepInRegister): two of one value are
/// the same.
static void allowSharedCopies(Function &function) {
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallInst>(&instruction);
    auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    if (text && !text->hasSideEffects()) {
      call->setDoesNotAccessMemory();
    }
  }
}

/// Whether something is computed in f16 or converted to it.
static bool usesHalf(const Module &module) {
  for (const Function &function : module) {
    for (const Instruction &instruction : instructions(function)) {
      auto isHalf = [](const Value *value) {
        return value->getType()->getScalarType()->isHalfTy();
      };
      if (isHalf(&instruction) || any_of(instruction.operands(), isHalf)) {
        return true;
      }
    }
  }
  return false;
}

void runScalarOptimizations(Module &module, TargetMachine &machine) {
  codegen::Analyses analyses(machine);
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  // For narrowing alone: the lowering leaves nothing else to do that it would see, and it takes a
  // fourteenth of the time of a compilation.
  if (usesHalf(module)) {
    passes.addPass(InstCombinePass());
  }
  passes.addPass(SimplifyCFGPass());
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  for (Function &function : module) {
    if (!function.isDeclaration()) {
      allowSharedCopies(function);
      lowering::makeDivisionsSafe(function, machine.getTargetTriple().isX86());
      lowering::makeShiftsSafe(function);
      passes.run(function, analyses.functions);
      removeHalfExtrema(function);
    }
  }
}

} // namespace nereid::cpu
