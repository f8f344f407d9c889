// SPDX-License-Identifier: Apache-2.0
// Who holds what of the operands of matrix instructions, over a whole tile: a warp's mma.sync (PTX
// ISA, "Matrix fragments for mma.m16n8k16" and its neighbours for other widths) and a warpgroup's
// wgmma ("Register fragments and shared memory matrix layouts"), which is four of the former, one
// below the other.
#pragma once

#include "lib/layout/LinearLayout.h"

#include <cstdint>
#include <optional>

namespace nereid::nvidia {

/// One shape of the instruction, m16 n8.
struct MatrixShape {
  int64_t k = 16;           ///< 8 for tf32, 16 for 16 bits, 32 for 8 bits
  int64_t elementBits = 16; ///< of A and B
};

/// Warps along rows and columns of the result.
struct WarpGrid {
  int64_t rows = 1, columns = 1;
  /// Warps are numbered down the rows, and a warp's columns are side by side, as wgmma has it;
  /// else along the columns, which warps take in turns, eight at a time.
  bool isOfWarpgroups = false;
};

WarpGrid warpGridFor(int64_t rows, int64_t columns, int64_t warps);
/// The same for warpgroups, of which each makes 64 rows at a time; nothing where these do not
/// share out the tile.
std::optional<WarpGrid> warpgroupGridFor(int64_t rows, int64_t columns, int64_t warps);

layout::LinearLayout accumulatorLayout(int64_t rows, int64_t columns, const WarpGrid &warps);
/// Of A, rows x k.
layout::LinearLayout leftLayout(int64_t rows, int64_t k, const MatrixShape &shape,
                                const WarpGrid &warps);
/// Of B, k x columns.
layout::LinearLayout rightLayout(int64_t k, int64_t columns, const MatrixShape &shape,
                                 const WarpGrid &warps);

} // namespace nereid::nvidia
