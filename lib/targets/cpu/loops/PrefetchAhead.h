// SPDX-License-Identifier: Apache-2.0
// Behind the lowering, on the loops level: reads of large launches run a page ahead.
//
// Why: hardware prefetchers stop at the end of a page, and a loop with much arithmetic fills the
// processor's window with it before the next page's first loads are reached. The next 4096 bytes
// are what the next program reads, or this one's next pages. Rows whose numbers are read from
// memory (embeddings) have nothing behind them that is needed.
// Requires: loops as LoopNest writes them. Guarantees: only prefetches are added, which cannot
// fault, and only where stores bypass the caches: small launches have their data in the caches.
// Example:
//   for i: { x = load a[i] ; if large { stream b[i] = f(x) } else { b[i] = f(x) } }
//   for i: { x = load a[i] ; if large { prefetch a[i] + 4096 ; stream b[i] = f(x) } else { … } }
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::cpu {

void prefetchAhead(mlir::func::FuncOp kernel);

} // namespace nereid::cpu
