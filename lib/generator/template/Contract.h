// SPDX-License-Identifier: Apache-2.0
// Kernels of contractions (fuse/Contraction.h): each program computes a tile [m, n] of one element
// of the batch in a loop over blocks of k.
//
//   acc = 0
//   for start in range(0, K, BLOCK_K):
//       acc = tl.dot(a[m, k], b[k, n], acc)
//   out[m, n] = …acc…                          what is computed of the sums, in the same tile
//
// Factors are whatever depends on their iterators: a padded window of an image and a filter make a
// convolution. They are 0 beyond the end of k.
//
// The same tiles may be shared in other ways (TileShare), in loops around that. Persistent programs
// walk over all of them:
//
//   for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
//
// Stream-K leaves whole waves of tiles to the kernel above. All turns of the loops over k of the
// last wave, tile after tile, are dealt evenly to a wave of programs, so that one has a part of one
// tile or of two, and leaves its sums in memory; another kernel adds up those of a tile, in the
// order of k, and computes what is computed of them. Results do not change between runs.
#pragma once

#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// The kernel `name` of `stores`, whose reductions are `contractions`: at least one, alike. Dealt
/// and joined sums of each are in one of `parts`, memory of the type sumOf().
Result<StageKernel> emitContract(const Program &program, const std::string &name,
                                 const std::vector<Store> &stores,
                                 const std::vector<Contraction> &contractions,
                                 TileShare share = TileShare::Each,
                                 const std::vector<BufferId> &parts = {});

/// The type in which products are added up.
DType sumOf(const Contraction &contraction);

} // namespace nereid::generator
