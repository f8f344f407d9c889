// SPDX-License-Identifier: Apache-2.0
// Grids that begin while those before them in the stream end: what compiler and driver know of
// them.
#pragma once

namespace nereid::nvidia {

/// The first compute capability on which a grid may begin before the one before it has ended, and
/// has an instruction that waits until all that one wrote can be read.
inline constexpr int firstWithEarlyGrids = 90;

} // namespace nereid::nvidia
