// SPDX-License-Identifier: Apache-2.0
// Values at sums of iterators, as values of the sums, each of which is then computed once:
//
//   sum[c](x[c, i + k] * w[c])          is s[i + k], where s[t] = sum[c](x[c, t] * w[c])
//
// A sum that conditions keep within bounds wherever the value is needed runs through these bounds
// alone: behind where(1 <= i + k < N + 1, …), the edge of a padded image, it is s[i + k - 1] with N
// elements, which is what others leave that need the value without an edge.
#pragma once

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/program/Program.h"

namespace nereid::generator {

struct JoinedValue {
  const Node *value = nullptr;
  IndexMap at; ///< where the value that was joined stands; iterators that are not here stay
};

/// The value itself, where nothing can be joined. `around`: what holds wherever it is needed.
JoinedValue joinIterators(Program &program, const Node *value, const Conditions &around);

/// What holds wherever the stores need the value.
Conditions conditionsAround(const std::vector<Store> &stores, const Node *value);

} // namespace nereid::generator
