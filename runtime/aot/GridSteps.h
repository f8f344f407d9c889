// SPDX-License-Identifier: Apache-2.0
// A grid expression as steps on a stack of 64-bit integers, with Python's meaning of // and %.
// `cdiv(n, 128)` is Slot n, Constant 128, CeilDivide. What has no value or does not fit in 64 bits
// (division by zero, an overflow) makes the whole expression fail.
#pragma once

#include "runtime/aot/Table.h"

namespace nereid::aot {

/// The three sizes; null when done, else what has no value, for a message.
const char *runGridSteps(const Step *steps, int64_t count, const uint64_t *slots, int64_t grid[3]);

} // namespace nereid::aot
