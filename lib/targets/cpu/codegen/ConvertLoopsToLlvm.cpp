// SPDX-License-Identifier: Apache-2.0
// convert-loops-to-llvm: convert scf, arith, math, vector, cf and func to the LLVM dialect.
//
// Why: see lib/lowering/ConvertToLlvm.h; what is most frequent is converted directly, as compile
// time is what a just-in-time compiler's user waits for.
// Requires: expand-half and expand-math have run; vectors have one dimension.
// Guarantees: only LLVM dialect operations remain.
// Example: `%s = arith.addf %a, %b : vector<16xf32>` becomes `%s = llvm.fadd %a, %b :
// vector<16xf32>`.
#include "lib/lowering/ConvertToLlvm.h"
#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/codegen/DirectConversions.h"
#include "lib/targets/cpu/codegen/Passes.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Pass/PassManager.h"

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
    lowering::addLlvmDialects(registry);
  }

  void runOnOperation() override {
    convertDirectly(getOperation());
    if (failed(lowering::convertToLlvm(getOperation()))) {
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
  lowering::registerLlvmPath(registry);
  registry.insert<CpuDialect>();
}

} // namespace nereid::cpu
