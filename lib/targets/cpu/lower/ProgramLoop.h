// SPDX-License-Identifier: Apache-2.0
// On tile IR, before everything else of the lowering: a loop around a kernel's body, so that one
// call of the entry runs neighbouring programs of the grid's first axis.
//
// Why: a program that reduces one row knows nothing of the next one. In a loop over rows its store
// can wait for the next row (RowPipeline.h), the next row is prefetched (PrefetchNext.h), and what
// all programs compute alike is computed once.
// Requires: a kernel that reduces rank-1 tiles outside of its loops, or whose atomic additions may
// be deferred (DeferredAdditions.h), and that neither multiplies, waits, prints nor asserts.
// Guarantees: the same accesses; those of one program keep their order.
// Example:
//   row = program_id(0) ; load x[row] …
//   for row = program_id(0) to end of the range: { load x[row] … }
// Short rows four at a time, operation by operation in turns:
//   for row = … step 4: { load x[row] ; load x[row + 1] ; … ; max … ; max … }
//   for the rest: { load x[row] … }
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::cpu {

/// A copy of the kernel with the loop; null when it is not such a kernel.
mlir::OwningOpRef<mlir::func::FuncOp> loopOverPrograms(mlir::func::FuncOp kernel);

bool isProgramLoop(mlir::scf::ForOp loop);
/// A `tile.program_id` that stands for the end of the range: the fourth element of the entry's id.
bool isEndOfRange(mlir::Operation *op);

} // namespace nereid::cpu
