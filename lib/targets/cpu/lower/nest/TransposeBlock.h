// SPDX-License-Identifier: Apache-2.0
// Transposition of a square block in vector registers.
#pragma once

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace nereid::cpu {

/// Exchanges rows and columns of a square block, one bit of the index per stage. As many rows as
/// each has elements, a power of two. `separates`: on x86, halves the time that code generation
/// takes for sixteen rows.
void transposeBlock(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::SmallVectorImpl<mlir::Value> &rows, bool separates = false);

} // namespace nereid::cpu
