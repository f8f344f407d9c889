// SPDX-License-Identifier: Apache-2.0
// Kernels of chains (fuse/Chain.h): each program has a block of queries and walks over the keys in
// blocks. A running maximum and a running sum of each query correct what was added up under a
// smaller maximum, so that no scores are ever in memory.
//
//   for start in range(0, J, BLOCK_N):
//       dot = tl.dot(q[m, d], k[d, n])
//       scores = …dot…                             masked, scaled; -inf beyond the last key
//       next_top = maximum(top, max[n](scores))
//       weight = exp(scores - next_top);  shrink = exp(top - next_top)
//       total = total * shrink + sum[n](weight)
//       acc = tl.dot(weight, v[n, e], acc * shrink)
//   out[m, e] = …acc / total…
//
// Where the weights are no softmax they are computed of the products as they are, and added up as
// they are. d and e are whole in a tile.
#pragma once

#include "lib/generator/fuse/split/SplitChain.h"
#include "lib/generator/template/chain/InnerProducts.h"

namespace nereid::generator {

/// The kernel `name` of the stores, whose reductions are the chain's and those beside it; its
/// condition is what a launch has to have for it.
Result<StageKernel> emitChain(const Program &program, const std::string &name,
                              const std::vector<Store> &stores, const ProductChain &chain);

/// The kernel of a softmax's parts, whose programs have the keys of one part each.
Result<StageKernel> emitChainPart(const Program &program, const std::string &name,
                                  const ProductChain &chain, const ChainParts &parts);

/// The largest block of keys, as an expression of the launch table: deep keys and values leave room
/// for fewer. `depths`: of all factors that stand in registers or shared memory.
std::string largestOfKeys(DType operand, const std::vector<std::string> &depths);

} // namespace nereid::generator
