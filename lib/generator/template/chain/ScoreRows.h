// SPDX-License-Identifier: Apache-2.0
// Kernels of what rows of scores leave for chains (fuse/RowChains.h): each program has a block of
// queries and walks over the keys in blocks.
//
//   for start in range(0, J, BLOCK_N):
//       dot = tl.dot(q[m, d], k[d, n])
//       scores = …dot…                             -inf beyond the last key
//       next_top = maximum(top, max[n](scores))
//       total = total * exp(top - next_top) + sum[n](exp(scores - next_top))
//
// or, of a sum alone, its lanes.
#pragma once

#include "lib/generator/fuse/RowChains.h"
#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// The kernel `name` of the stores; its condition is what a launch has to have for it.
Result<StageKernel> emitScoreRows(const Program &program, const std::string &name,
                                  const std::vector<Store> &stores, const ScoreRows &rows);

} // namespace nereid::generator
