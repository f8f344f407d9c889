// SPDX-License-Identifier: Apache-2.0
// Sums of what an index leads to a place, in a fixed order, by as many additions as there are
// values: programs walk along the values and add each to memory. All that meets one place is added
// by one lane, which keeps the order; so there have to be dimensions that index and result share.
//
//   out[n, d] = x[n, d] + sum[m](where(k[m, d] == n, v[m, d], 0))
//
//   met[n, d] = 0
//   met[data(k[m, d], N), d] += v[m, d]          m in order, some in a turn
//   out[n, d] = x[n, d] + met[n, d]
#pragma once

#include "lib/generator/fuse/Split.h"

namespace nereid::generator {

struct Walk {
  Split split;
  std::vector<IteratorId> along;  ///< the values
  std::vector<IteratorId> places; ///< of the result, which the indices lead to
  std::vector<IteratorId> shared; ///< dimensions of both
};

/// Nothing where the stores' only reduction is no such sum over one iterator.
std::optional<Walk> splitWalk(Program &program, const std::vector<Store> &stores);

} // namespace nereid::generator
