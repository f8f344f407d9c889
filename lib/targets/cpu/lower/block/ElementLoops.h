// SPDX-License-Identifier: Apache-2.0
// Loops over all elements of tiles, and what they read and write in scratch memory: for operations
// that are no part of a loop nest.
#pragma once

#include "lib/targets/cpu/lower/elements/Evaluator.h"

namespace nereid::cpu {

using ElementBody = llvm::function_ref<void(Evaluator &, mlir::Value index)>;
/// One element after the other, in row-major order; the index counts them.
void forEachElement(KernelState &kernel, Scope &scope, mlir::Location loc,
                    llvm::ArrayRef<int64_t> shape, ElementBody body);

using BlockBody = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value index, unsigned width)>;
/// Positions 0 … count-1 in blocks of `width`, the rest one by one.
void forBlocks(KernelState &kernel, mlir::OpBuilder &builder, mlir::Location loc, int64_t count,
               int64_t width, BlockBody body);

/// Of the element at a position of the buffer.
mlir::Value elementAddress(KernelState &kernel, mlir::OpBuilder &builder, mlir::Location loc,
                           int buffer, mlir::Value index);
mlir::Value loadLanes(KernelState &kernel, mlir::OpBuilder &builder, mlir::Location loc, int buffer,
                      mlir::Value index, unsigned width);
void storeLanes(KernelState &kernel, mlir::OpBuilder &builder, mlir::Location loc, int buffer,
                mlir::Value index, mlir::Value lanes);

} // namespace nereid::cpu
