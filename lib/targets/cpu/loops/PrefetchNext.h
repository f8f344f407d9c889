// SPDX-License-Identifier: Apache-2.0
// Last step of the lowering, on the loops level: overlaps memory with arithmetic across rows.
//
// Why: a program that walks several rows reads one in a first loop, computes in a second and writes
// in a third; while it computes or writes, no reads run ahead. Hardware prefetchers see only the
// first loop.
// Requires: loops as LoopNest writes them. Guarantees: only prefetches are added, which cannot
// fault. Example, softmax:
//   for row: { for i < n: max(load x[row][i]) ; for i: exp(…) ; for i: store(…) }
//   for row: { for i < n: max(load x[row][i]) ; for i: { prefetch x[row+1][i/4] ; exp(…) }
//              for i: { prefetch x[row+1][(n+3i)/4] ; store(…) } }
// Of short rows not the next one, but one so far behind that memory has the time to bring it; of
// longer ones that are only read, the end a little sooner, for its turn comes right after.
#pragma once

#include "lib/machine/Machine.h"
#include "lib/targets/cpu/LoopAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::cpu {

/// Attribute of a loop that walks as many elements as the row has without reading memory: the best
/// place for the next row's prefetches. Its step counts elements.
constexpr const char *hostsPrefetches = "nereid.hosts_prefetches";

/// Attribute of a lane loop: how many elements it walks at most, when these are few.
constexpr const char *shortRow = "nereid.short_row";

/// Attribute of a row loop whose rows read what the rows before have brought in.
constexpr const char *readsNeighbours = "nereid.reads_neighbours";

void prefetchNextRow(mlir::func::FuncOp kernel, const Machine &machine);

} // namespace nereid::cpu
