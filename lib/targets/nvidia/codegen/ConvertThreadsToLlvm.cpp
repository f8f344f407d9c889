// SPDX-License-Identifier: Apache-2.0
// nvidia-convert-threads-to-llvm: convert scf, arith, math, cf and func to the LLVM dialect.
//
// Why: see lib/lowering/ConvertToLlvm.h.
// Requires: expand-half, expand-math and expand-remainders have run; values are scalars.
// Guarantees: only operations of the LLVM dialect remain.
// Example: `%s = arith.addf %a, %b : f32` becomes `%s = llvm.fadd %a, %b : f32`.
#include "lib/lowering/ConvertToLlvm.h"
#include "lib/lowering/Passes.h"
#include "lib/targets/nvidia/codegen/ApproximateFunctions.h"
#include "lib/targets/nvidia/codegen/Passes.h"
#include "lib/targets/nvidia/ir/Nvidia.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

/// Additions that follow are joined with every other product.
void keepRounded(arith::MulFOp op) {
  Type type = op.getType();
  if (!op->hasAttr(lowering::roundedAttribute) || !(type.isF32() || type.isF64())) {
    return;
  }
  OpBuilder b(op);
  auto name = b.getStringAttr(type.isF32() ? "llvm.nvvm.mul.rn.f" : "llvm.nvvm.mul.rn.d");
  auto call = b.create<LLVM::CallIntrinsicOp>(op.getLoc(), type, name, op.getOperands(),
                                              LLVM::FastmathFlagsAttr());
  op.getResult().replaceAllUsesWith(call.getResults());
  op.erase();
}

/// One instruction; what LLVM makes of a copied sign tests it and chooses.
void copySignAtOnce(math::CopySignOp op) {
  Type type = op.getType();
  if (!type.isF32()) {
    return;
  }
  OpBuilder b(op);
  auto made = b.create<LLVM::InlineAsmOp>(
      op.getLoc(), type, ValueRange{op.getRhs(), op.getLhs()}, "copysign.f32 $0, $1, $2;", "=f,f,f",
      /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
  op.replaceAllUsesWith(made.getResult(0));
  op.erase();
}

class ConvertThreadsToLlvmPass
    : public PassWrapper<ConvertThreadsToLlvmPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertThreadsToLlvmPass)

  StringRef getArgument() const override { return "nvidia-convert-threads-to-llvm"; }
  StringRef getDescription() const override {
    return "convert the code of a thread to the LLVM dialect";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    lowering::addLlvmDialects(registry);
  }

  void runOnOperation() override {
    getOperation().walk(keepRounded);
    getOperation().walk(copySignAtOnce);
    if (failed(lowering::convertToLlvm(getOperation()))) {
      signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createConvertThreadsToLlvmPass() {
  return std::make_unique<ConvertThreadsToLlvmPass>();
}

void buildThreadsToLlvmPipeline(OpPassManager &manager) {
  const lowering::FloatUnit floats{.hasFma = true,
                                   .hasHalfConversions = true,
                                   .hasBf16Rounding = true,
                                   .dividesAtOnce = false,
                                   .approximate = &approximateFunctions()};
  manager.addPass(lowering::createChooseFormsPass()); // while roundings are operations
  manager.addPass(lowering::createExpandHalfPass(floats));
  manager.addPass(lowering::createBranchToRarePass());
  manager.addPass(lowering::createExpandMathPass(floats));
  manager.addPass(lowering::createJoinRareBranchesPass());
  manager.addPass(lowering::createExpandRemaindersPass());
  manager.addPass(createConvertThreadsToLlvmPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void registerNvidiaDialects(DialectRegistry &registry) {
  lowering::registerLlvmPath(registry);
  registry.insert<NvidiaDialect>();
}

} // namespace nereid::nvidia
