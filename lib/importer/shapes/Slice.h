// SPDX-License-Identifier: Apache-2.0
// What a slice takes of a dimension: its ends count from either side and are cut off where the
// dimension ends, as the operator has it.
#pragma once

#include <cstdint>

namespace nereid::importer {

/// Elements from, from + step, … before `to`, `count` of them.
struct SlicedDim {
  int64_t from = 0, to = 0, count = 0;
};

/// `step` is neither 0 nor the smallest integer.
SlicedDim slicedDim(int64_t size, int64_t start, int64_t end, int64_t step);

} // namespace nereid::importer
