// SPDX-License-Identifier: Apache-2.0
// On tile IR, before the analyses: accumulators of a loop over blocks that are only reduced after
// it become scalars, and the loop reduces each block.
//
// Why: a carried tile goes through scratch, three accesses for each vector that is read; a block is
// reduced in registers. Neither the zeros nor the sum at the end need a loop of their own.
// Requires: nothing else reads the accumulator, and it is combined with the block by the
// reduction's own operation, whose order is free. Guarantees: integers, minima and maxima are the
// same, sums of float32 and float64 are rounded in another order.
// Example:
//   for start: { total += load(x + start + range) } ; sum(total)
//   for start: { sum += sum(load(x + start + range)) }
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::cpu {

void reduceBlocks(mlir::func::FuncOp kernel);

} // namespace nereid::cpu
