// SPDX-License-Identifier: Apache-2.0
// On the loops level, once a loop with products in it is lowered: the tiles that the next iteration
// copies to scratch are prefetched while this one's are copied.
//
// Why: the products of one iteration take so long that hardware prefetchers have forgotten the rows
// when the next tile is read, and copying does nothing else meanwhile. Keys and values of
// attention, 16 heads of 512 x 64: 2 % of all, 1 % where there are 2048 of them. Requires: the loop
// as BlockLowering writes it, with its yield. Guarantees: only prefetches are added, which cannot
// fault; rows that are not evenly apart may be missed. Example:
//   for n: { for i: keep[i] = load k[n + i] ; products }
//   for n: { for i: { keep[i] = load k[n + i] ; prefetch k[n + step + i] } ; products }
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::cpu {

void prefetchNextTiles(mlir::scf::ForOp loop);

} // namespace nereid::cpu
