// SPDX-License-Identifier: Apache-2.0
// Blocks of threads that are one program together: what compiler and driver know of them.
#pragma once

namespace nereid::nvidia {

/// The first compute capability whose programs may have several blocks.
inline constexpr int firstWithClusters = 90;

} // namespace nereid::nvidia
