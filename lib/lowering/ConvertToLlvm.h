// SPDX-License-Identifier: Apache-2.0
// The way from scf, arith, math, vector, cf and func to the LLVM dialect and on to LLVM IR, which
// every target takes that LLVM generates code for.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace nereid::lowering {

/// What a pass that calls convertToLlvm declares as its dependent dialects.
void addLlvmDialects(mlir::DialectRegistry &registry);

/// In one conversion with all patterns, which takes half the time of one pass per dialect. Vectors
/// have one dimension; expand-half and expand-math have run. What is left besides the LLVM dialect
/// are casts that reconcile-unrealized-casts removes.
mlir::LogicalResult convertToLlvm(mlir::ModuleOp module);

/// The dialects that convertToLlvm reads and writes, and the translation of the latter to LLVM IR.
void registerLlvmPath(mlir::DialectRegistry &registry);

} // namespace nereid::lowering
