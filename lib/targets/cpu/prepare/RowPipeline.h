// SPDX-License-Identifier: Apache-2.0
// On tile IR, before the loops are made: delays the last store of a row until the next row is
// computed, so that one lane loop writes row r - 1 beside the arithmetic and the reads of row r.
//
// Why: a row that is reduced has passes that only read, only compute or only write; memory rests in
// the second and half of it in the others.
// Requires: a loop whose body reduces rank-1 tiles and ends in a store past the caches.
// Guarantees: every access happens that happened before. A row's store stays where it was when the
// next row may access the same bytes, when it is the last one, and when it is not aligned.
// Example, softmax (`before` is the row before):
//   for row: { e = exp(x[row] - max) ; store out[row], e / sum }
//   for row with before_e, before_sum, pending = false:
//     e = exp(x[row] - max)
//     if pending: store out[row - 1], before_e / before_sum      (joins the loop of e)
//     now = row is the last or out[row] overlaps x[row + 1] or is not aligned
//     if now: store out[row], e / sum
//     yield e, sum, not now
#pragma once

#include "lib/targets/cpu/lower/Lower.h"
#include "lib/targets/cpu/lower/plan/FusionPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::cpu {

/// A copy of the kernel in which rows are pipelined; null when there is nothing to do. When shared,
/// a quarter of the row is stored in the row's first nest, so that memory does not rest there;
/// not of rows that the store computes from tensors again.
mlir::OwningOpRef<mlir::func::FuncOp> pipelineRows(mlir::func::FuncOp kernel,
                                                   const Machine &machine, bool isShared);

/// A branch around one store that belongs into the nest before it.
bool isDelayedStore(mlir::Operation *op);
DelayedPart delayedPart(mlir::scf::IfOp branch);
/// What the delayed store reads is computed in its branch alone: there may be no row before.
bool isOfRowBefore(mlir::Operation *op);
/// The kept tiles this loop carries for its delayed store: their buffer is overwritten in place.
bool isPipelined(mlir::scf::ForOp loop);

} // namespace nereid::cpu
