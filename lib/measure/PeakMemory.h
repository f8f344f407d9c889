// SPDX-License-Identifier: Apache-2.0
// How much memory something needs while it runs, as the system counts it: resident pages at their
// highest, above those that were resident before.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace nereid::measure {

/// Bytes by which this process's resident memory grows at most while `run` runs; nothing where the
/// system does not let a process reset its high-water mark (Linux: 5 to /proc/self/clear_refs). The
/// system counts pages in batches for each processor, so that some 100 KiB mean nothing. Pages that
/// stay resident from before, as a heap's, do not count when they are used again.
std::optional<uint64_t> peakGrowth(const std::function<void()> &run);

} // namespace nereid::measure
