// SPDX-License-Identifier: Apache-2.0
// What the phase `threads` relies on of the layouts that the phase before it has left, or that
// somebody has written.
#pragma once

#include "lib/targets/nvidia/NvidiaMachine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::nvidia {

/// Fails, with an error at the operation, where a tile has no layout or one for other threads than
/// the kernel has, where an operand is not in the layout that its operation needs, and where a
/// product is for instructions that the machine lacks.
mlir::LogicalResult checkLayouts(mlir::func::FuncOp kernel, const NvidiaMachine &machine);

} // namespace nereid::nvidia
