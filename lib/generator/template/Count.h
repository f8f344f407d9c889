// SPDX-License-Identifier: Apache-2.0
// Kernels of counts (fuse/split/SplitCounts.h): a program has all places of the table and walks
// along a part of the values, whose places it counts by the language's histogram.
#pragma once

#include "lib/generator/fuse/split/SplitCounts.h"
#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Places of the longest table: what a program counts lies in its shared memory.
constexpr int64_t mostCounted = 8192;

/// The kernel `name` of the stores, whose only value is the count.
StageKernel emitCount(const Program &program, const std::string &name,
                      const std::vector<Store> &stores, const Count &count);

} // namespace nereid::generator
