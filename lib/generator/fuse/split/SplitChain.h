// SPDX-License-Identifier: Apache-2.0
// A chain in parts of its keys, where few queries look at many of them:
//
//   acc[p, i, e], top[p, i], total[p, i] = the chain's sum of weighted values, its largest score
//   and
//                                          its sum of exponentials, over the keys of part p
//   out[i, e] = sum[p](acc[p, i, e] * exp(top[p, i] - max[p](top[p, i]))) / sum[p](total[p, i] *
//   ...)
#pragma once

#include "lib/generator/fuse/Chain.h"
#include "lib/generator/fuse/split/Split.h"

namespace nereid::generator {

struct ChainParts {
  Split split; ///< what the parts leave, and the chain's stores of it
  IteratorId part = 0;
};

/// Of a softmax. The program gets temporaries and iterators; its stages stay as they are.
ChainParts splitChain(Program &program, const std::vector<Store> &stores, const ProductChain &chain,
                      int64_t parts);

} // namespace nereid::generator
