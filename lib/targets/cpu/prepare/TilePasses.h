// SPDX-License-Identifier: Apache-2.0
// The passes over tile IR that this target runs before it makes loops, with its criteria.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::cpu {

/// A copy of the kernel with a loop over its programs; null when it gains nothing from one.
mlir::OwningOpRef<mlir::func::FuncOp> loopOverPrograms(mlir::func::FuncOp kernel);

/// What changes the kernel in place, in front of all analyses.
mlir::LogicalResult runTilePasses(mlir::func::FuncOp kernel);

} // namespace nereid::cpu
