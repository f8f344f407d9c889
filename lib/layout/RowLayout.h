// SPDX-License-Identifier: Apache-2.0
// Rows that are reduced, one for each warp: lanes lie along the last dimension, and warps along the
// others as far as these go, so that a row stays within a warp.
//
//   [8, 128], 4 warps: warp w has rows w and w + 4, lane l of it columns l, l + 32, l + 64, l + 96
#pragma once

#include "lib/layout/LinearLayout.h"

namespace nereid::layout {

/// Counts are powers of two. Where the tile has fewer elements than threads, threads hold replicas.
LinearLayout rowLayout(const LinearLayout::Shape &shape, int64_t lanes, int64_t warps);

} // namespace nereid::layout
