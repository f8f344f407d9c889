// SPDX-License-Identifier: Apache-2.0
// The MLIR passes that take loops to the LLVM dialect, behind those of loops/Passes.h.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class OpPassManager;
class DialectRegistry;
} // namespace mlir

namespace nereid::cpu {

/// convert scf, arith, math, vector, cf and func to the LLVM dialect in one conversion
std::unique_ptr<mlir::Pass> createConvertLoopsToLlvmPass();

/// What is left to do behind the passes on loops.
void buildLoopsToLlvmPipeline(mlir::OpPassManager &manager);

/// Dialects and translations that the passes and translateToLlvm need.
void registerCodegenDialects(mlir::DialectRegistry &registry);

} // namespace nereid::cpu
