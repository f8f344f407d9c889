// SPDX-License-Identifier: Apache-2.0
// convert-loops-to-llvm: convert scf, arith, math, vector, cf and func to the LLVM dialect.
//
// Why: one conversion with all patterns takes half the time of one pass per dialect, and compile
// time is what a just-in-time compiler's user waits for.
// Requires: expand-half and expand-math have run; vectors have one dimension.
// Guarantees: only LLVM dialect operations remain.
// Example: `%s = arith.addf %a, %b : vector<16xf32>` becomes `%s = llvm.fadd %a, %b :
// vector<16xf32>`.
#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/codegen/DirectConversions.h"
#include "lib/targets/cpu/codegen/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

class ConvertLoopsToLlvmPass : public PassWrapper<ConvertLoopsToLlvmPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertLoopsToLlvmPass)

  StringRef getArgument() const override { return "convert-loops-to-llvm"; }
  StringRef getDescription() const override {
    return "convert scf, arith, math, vector, cf and func to the LLVM dialect in one conversion";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, cf::ControlFlowDialect>();
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    convertDirectly(getOperation());
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns, /*reassociateFPReductions=*/true,
                                           /*force32BitVectorIndices=*/false);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns)))) {
      signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createConvertLoopsToLlvmPass() {
  return std::make_unique<ConvertLoopsToLlvmPass>();
}

void buildLoopsToLlvmPipeline(OpPassManager &manager) {
  manager.addPass(createConvertLoopsToLlvmPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect, CpuDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

} // namespace nereid::cpu
