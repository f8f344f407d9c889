// SPDX-License-Identifier: Apache-2.0
// Which extrema need not keep NaN, because whatever is made of them is NaN anyway. A softmax is
//
//   exp(x[i, j] - m[i]) / sum[r](exp(x[i, r] - m[i]))      m[i] = max[r](x[i, r])
//
// A NaN in row i makes the sum NaN, and with it every result of the row, so that the maximum may
// pass over it, as processors do in one instruction. So may that of the monoid "logsumexp", whose
// sum is NaN then.
#pragma once

#include "lib/generator/index/Node.h"

namespace nereid::generator {

/// Those among what `roots`, the values of a kernel, are computed of.
std::set<const Node *> coveredExtrema(const std::vector<const Node *> &roots);

} // namespace nereid::generator
