// SPDX-License-Identifier: Apache-2.0
// Programs all of whose results are products of weights that other products give, such as the
// gradients of attention, as kernels that keep none of those in memory: only what the weights need
// of whole rows is left there first.
//
//   top[i], total[i] = max[j](s[i, j]), sum[j](exp(s[i, j] - top[i]))
//   taken[i] = sum[j](w[i, j] * g[i, j])
//   gq[i, d] = sum[j](w[i, j] * (g[i, j] - taken[i]) * k[j, d])
//
// where s and g are products, computed anew in each kernel, and w is exp(s - top) / total.
#pragma once

#include "lib/generator/fuse/Chain.h"

namespace nereid::generator {

/// Reductions of rows, along `keys`, of what products give.
struct ScoreRows {
  std::vector<IteratorId> batch, rows, keys;
  std::vector<Contraction> inner;
  /// top = max(scores) and total = sum(exp(scores - top)), or a sum alone.
  const Node *scores = nullptr, *top = nullptr, *total = nullptr, *sum = nullptr;
};

struct RowChains {
  /// A kernel: a chain, rows of scores, or, with neither, what reduces rows of inputs.
  struct Step {
    std::vector<Store> stores;
    std::optional<ProductChain> chain = {};
    std::optional<ScoreRows> rows = {};
  };
  std::vector<Step> steps;     ///< in order
  std::vector<BufferId> saved; ///< temporaries that only they use
};

/// Nothing where a result is no such product, or no row has to be left in memory: what a product is
/// computed of may then as well stand in memory itself. Asks before fuse/Partition.h cuts; the
/// program gets iterators, and the buffers of chains that are found; its stages stay.
std::optional<RowChains> rowChainsOf(Program &program);

} // namespace nereid::generator
