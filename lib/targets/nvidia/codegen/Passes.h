// SPDX-License-Identifier: Apache-2.0
// The passes that take the code of a thread to the LLVM dialect.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace nereid::nvidia {

/// convert the code of a thread to the LLVM dialect
std::unique_ptr<mlir::Pass> createConvertThreadsToLlvmPass();

void buildThreadsToLlvmPipeline(mlir::OpPassManager &manager);
void registerNvidiaDialects(mlir::DialectRegistry &registry);

} // namespace nereid::nvidia
