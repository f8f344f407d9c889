// SPDX-License-Identifier: Apache-2.0
// Calls of the functions that the runtime provides to kernels (runtime/cpu).
#pragma once

#include "lib/targets/cpu/lower/KernelState.h"

namespace nereid::cpu {

/// Declares the function, without a result, at its first call.
void callRuntime(KernelState &kernel, mlir::OpBuilder &builder, mlir::Location loc,
                 llvm::StringRef name, mlir::ValueRange arguments);

/// The address of a zero-ended text.
mlir::Value textAddress(KernelState &kernel, mlir::OpBuilder &builder, llvm::StringRef text,
                        mlir::Location loc);

} // namespace nereid::cpu
