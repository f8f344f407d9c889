// SPDX-License-Identifier: Apache-2.0
// On the loops level: four math functions of float32 scalars in one block become one of a vector.
// Programs that run in turns (tile-coarsen-programs) each have their logarithm, some forty
// instructions that take as long for four numbers as for one.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::cpu {

void packScalars(mlir::func::FuncOp kernel);

} // namespace nereid::cpu
