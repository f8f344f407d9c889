// SPDX-License-Identifier: Apache-2.0
// nvidia-convert-threads-to-llvm: convert scf, arith, math, cf and func to the LLVM dialect.
//
// Why: one conversion with all patterns takes half the time of one pass per dialect.
// Requires: expand-half and expand-math have run; values are scalars.
// Guarantees: only operations of the LLVM dialect remain.
// Example: `%s = arith.addf %a, %b : f32` becomes `%s = llvm.fadd %a, %b : f32`.
#include "lib/lowering/Passes.h"
#include "lib/targets/nvidia/codegen/Passes.h"
#include "lib/targets/nvidia/ir/Nvidia.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

class ConvertThreadsToLlvmPass
    : public PassWrapper<ConvertThreadsToLlvmPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertThreadsToLlvmPass)

  StringRef getArgument() const override { return "nvidia-convert-threads-to-llvm"; }
  StringRef getDescription() const override {
    return "convert the code of a thread to the LLVM dialect";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, cf::ControlFlowDialect>();
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
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

std::unique_ptr<Pass> createConvertThreadsToLlvmPass() {
  return std::make_unique<ConvertThreadsToLlvmPass>();
}

void buildThreadsToLlvmPipeline(OpPassManager &manager) {
  const lowering::FloatUnit floats{/*hasFma=*/true, /*hasHalfConversions=*/true};
  manager.addPass(lowering::createExpandHalfPass(floats));
  manager.addPass(lowering::createExpandMathPass(floats));
  manager.addPass(createConvertThreadsToLlvmPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void registerNvidiaDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect, NvidiaDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

} // namespace nereid::nvidia
