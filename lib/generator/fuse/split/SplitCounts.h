// SPDX-License-Identifier: Apache-2.0
// How often each place of a short table is met, in parts: where additions to one place in memory
// wait for each other, each program counts what its own part of the values meets.
//
//   out[data(k[i], B)] += 1
//
//   part_1[p, b] = sum[i](where(L*p + i < N and k[L*p + i] == b, 1, 0))      i < L, p < parts
//   out[b] = out[b] + sum[p](int64(part_1[p, b]))
//
// The first stage names each place for each value; its kernel (template/Count.h) does not.
#pragma once

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/fuse/split/Split.h"

namespace nereid::generator {

/// The store's additions of ones in `parts` parts. Nothing where it adds anything else, or to a
/// table of several dimensions.
std::optional<Split> splitCounts(Program &program, const std::vector<Store> &stores, int64_t parts);

/// The number of values that meet each place, as the first stage has it.
struct Count {
  const Node *sum = nullptr, *place = nullptr;
  Conditions conditions; ///< under which a value counts
  IteratorId bin = 0, value = 0;
};
std::optional<Count> countOf(const std::vector<Store> &stores);

} // namespace nereid::generator
