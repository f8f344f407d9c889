// SPDX-License-Identifier: Apache-2.0
// Which quotients need not be rounded correctly, as docs/math.md states it: seen while sums are
// still operations on tiles.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::nvidia {

/// Marks quotients of what sums, products of matrices, functions or loops have rounded.
void markApproximateQuotients(mlir::func::FuncOp kernel);

} // namespace nereid::nvidia
