// SPDX-License-Identifier: Apache-2.0
// Products that lanes make by multiplications and additions, on operands that they read from shared
// memory in vectors of 16 bytes: float32 has no matrix instruction that keeps its digits.
//
// What limits such a product is how many numbers a thread multiplies for each vector that it reads:
// m rows and n columns of a thread are m * n multiplications for (m + n) / 4 vectors. An operand
// that runs along k in shared memory is read four steps of k at a time, by lanes whose rows follow
// each other, which the swizzle puts into different banks. One that runs along the result is read
// four neighbours at a time, which then are one thread's.
#pragma once

#include "lib/layout/LinearLayout.h"
#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/tile/ir/Tile.h"

namespace nereid::nvidia {

/// Whether lanes make the product that way.
bool isLaneProduct(mlir::Operation *dot);

/// The dimension of operand 0 or 1, as the product sees it, that its shared memory runs along: of a
/// slot as the copy has it, of what threads put there along k on the left and along n on the right.
int64_t fastestOfFactor(tile::DotOp dot, unsigned operand);

/// Which thread adds up which elements.
layout::LinearLayout laneProductLayout(tile::DotOp dot, const Threads &threads);

} // namespace nereid::nvidia
