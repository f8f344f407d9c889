// SPDX-License-Identifier: Apache-2.0
// Sums of what an index leads to a place, in a fixed order, by as many additions as there are
// values: programs walk along the values and add each to memory. All that meets one place is added
// by one lane, which keeps the order; so there have to be dimensions that index and result share.
//
//   out[n, d] = x[n, d] + sum[m](where(k[m, d] == n, v[m, d], 0))
//
// Programs that walk wait for memory in each turn, so the values are parts with sums of their own:
//
//   met[p, n, d] = 0
//   met[p, data(k[m, d], N), d] += v[m, d]       m of part p in order, some in a turn
//   out[n, d] = x[n, d] + sum[p](met[p, n, d])
//
// A program clears what it adds to. How many parts there are is chosen by a launch, from its sizes
// and site, so that the order does not change between runs.
#pragma once

#include "lib/generator/fuse/split/Split.h"

#include <functional>

namespace nereid::generator {

struct Walk {
  Split split;
  std::vector<IteratorId> along;  ///< the values
  std::vector<IteratorId> places; ///< of the result, which the indices lead to
  std::vector<IteratorId> shared; ///< dimensions of both
};

/// Values of a turn: their loads wait for memory together.
constexpr int64_t valuesOfTurn = 16;

/// Nothing where the stores' only reduction is no such sum over one iterator. `parts`: their
/// number, of all but `split`.
std::optional<Walk> splitWalk(Program &program, const std::vector<Store> &stores,
                              const std::function<Polynomial(const Walk &)> &parts);

} // namespace nereid::generator
