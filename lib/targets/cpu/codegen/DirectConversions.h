// SPDX-License-Identifier: Apache-2.0
// Operations of arith, math and vector whose counterpart in the LLVM dialect takes the same
// operands.
#pragma once

#include "mlir/IR/Operation.h"

namespace nereid::cpu {

/// Replaces them below `root`. What has attributes that change its meaning (fast math, no wrapping)
/// or types that the LLVM dialect writes differently (index, 8-bit floats) stays.
void convertDirectly(mlir::Operation *root);

} // namespace nereid::cpu
