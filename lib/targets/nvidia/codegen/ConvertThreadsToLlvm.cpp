// SPDX-License-Identifier: Apache-2.0
// nvidia-convert-threads-to-llvm: convert scf, arith, math, cf and func to the LLVM dialect.
//
// Why: see lib/lowering/ConvertToLlvm.h.
// Requires: expand-half, expand-math and expand-remainders have run; values are scalars.
// Guarantees: only operations of the LLVM dialect remain.
// Example: `%s = arith.addf %a, %b : f32` becomes `%s = llvm.fadd %a, %b : f32`.
#include "lib/lowering/ConvertToLlvm.h"
#include "lib/lowering/Passes.h"
#include "lib/targets/nvidia/codegen/Passes.h"
#include "lib/targets/nvidia/ir/Nvidia.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Pass/PassManager.h"

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
    lowering::addLlvmDialects(registry);
  }

  void runOnOperation() override {
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
  const lowering::FloatUnit floats{/*hasFma=*/true, /*hasHalfConversions=*/true,
                                   /*roundsToBrain=*/true};
  manager.addPass(lowering::createExpandHalfPass(floats));
  manager.addPass(lowering::createExpandMathPass(floats));
  manager.addPass(lowering::createExpandRemaindersPass());
  manager.addPass(createConvertThreadsToLlvmPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void registerNvidiaDialects(DialectRegistry &registry) {
  lowering::registerLlvmPath(registry);
  registry.insert<NvidiaDialect>();
}

} // namespace nereid::nvidia
