// SPDX-License-Identifier: Apache-2.0
// Tiles of bytes in shared memory that run along the other dimension than the one that products
// want: `ldmatrix` reads and `stmatrix` writes pairs of bytes, of which a thread makes new pairs in
// between. No two rows of one matrix meet in a bank.
//
// A warp turns 32 x 16 bytes at a time: four matrices of 8 rows of 16 bytes. Transposed by
// ldmatrix, thread 4 * j + t has of two of them the rows 4 * t to 4 * t + 3 of columns 2 * j and
// 2 * j + 1, and by `prmt` a word of each of the columns. Of the threads with t > 1 the two
// matrices change places, and with j > 3 the columns do, so that the eight rows of a matrix are all
// different modulo 8.
#pragma once

#include "lib/layout/LinearLayout.h"
#include "lib/targets/nvidia/threads/ThreadCode.h"

namespace nereid::nvidia {

/// Elements at which the rows of matrices begin that lanes give addresses for; registers are
/// instructions.
struct TurnedRows {
  layout::LinearLayout read, written;
};
/// `fastest`: the dimension that the tile runs along before. It has 16 elements at least, the other
/// one 32.
TurnedRows turnedRowsOf(const layout::LinearLayout::Shape &shape, int64_t fastest, int64_t warps);

/// The bytes that `prmt` picks from the words of a pair of matrices for the first word of a lane;
/// those of the second one differ by secondTurn, by exclusive or.
uint32_t turnOf(uint32_t lane);
inline constexpr uint32_t secondTurn = 0x1111;

/// Writes each element of a slot to the place it has in a slot that runs along the other dimension.
void lowerTurnCopy(ThreadCode &code, TurnCopyOp op);

} // namespace nereid::nvidia
