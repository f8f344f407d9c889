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
#pragma once

#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// The kernel `name` of `stores`, whose reductions are `contractions`: at least one, alike.
Result<StageKernel> emitContract(const Program &program, const std::string &name,
                                 const std::vector<Store> &stores,
                                 const std::vector<Contraction> &contractions);

} // namespace nereid::generator
