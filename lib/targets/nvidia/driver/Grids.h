// SPDX-License-Identifier: Apache-2.0
// Grids of programs, which may begin while those before them in the stream end: what compiler,
// driver and libraries compiled ahead of time know of them.
#pragma once

#include "lib/targets/nvidia/driver/Cuda.h"

namespace nereid::nvidia {

/// The first compute capability on which a grid may begin before the one before it has ended, and
/// has an instruction that waits until all that one wrote can be read.
inline constexpr int firstWithEarlyGrids = 90;

inline constexpr cuda::LaunchAttribute earlyLaunch;

/// A launch within the device's limits: `grid` has the programs along three axes, each `blocks`
/// blocks along the first one of `threads` threads.
template <class Grid>
cuda::LaunchConfig launchConfig(const Grid &grid, uint64_t blocks, unsigned threads,
                                uint64_t sharedBytes, cuda::Stream stream, bool isEarly) {
  return {static_cast<unsigned>(static_cast<uint64_t>(grid[0]) * blocks),
          static_cast<unsigned>(grid[1]),
          static_cast<unsigned>(grid[2]),
          threads,
          1,
          1,
          static_cast<unsigned>(sharedBytes),
          stream,
          &earlyLaunch,
          isEarly ? 1u : 0u};
}

} // namespace nereid::nvidia
