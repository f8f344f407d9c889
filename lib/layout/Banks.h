// SPDX-License-Identifier: Apache-2.0
// How the lanes of a warp meet in the banks of shared memory: 32 banks take one word of four bytes
// each at a time, and lanes that want the same word get it together. Accesses of up to four bytes
// a lane are one transaction of 32 lanes, those of 8 bytes two of 16, those of 16 bytes four of 8.
// Where lanes want several words of one bank, the transaction takes as many turns.
//
//   lane l at byte 4 * l, 4 bytes each:      32 words in 32 banks, 1 turn
//   lane l at byte 8 * l, 4 bytes each:      32 words in 16 banks, 2 turns
//   lane l at byte 128 * l, 16 bytes each:   8 lanes with 4 words each in 4 banks, 8 turns
#pragma once

#include "lib/layout/LinearLayout.h"

#include <cstdint>
#include <span>

namespace nereid::layout {

inline constexpr int64_t bankCount = 32, bankBytes = 4;

/// Of the word in which a byte lies.
inline int64_t bankOf(int64_t byte) { return byte / bankBytes % bankCount; }

/// Lanes whose accesses of so many bytes each are one transaction.
int64_t lanesOfTransaction(int64_t bytes);

/// Turns that the banks need for one transaction, whose lanes' `bytes` begin at these places: 1
/// where no two words are of one bank. `bytes` is a power of two up to 16.
int64_t bankTurns(std::span<const int64_t> places, int64_t bytes);

/// The same of each transaction of an access: `places` is a layout of bytes, of which the lanes
/// count here. By linearity all registers, warps and parts of a warp need the same number of turns.
int64_t bankTurns(const LinearLayout &places, int64_t bytes);

// ---- where tiles lie ----

/// The byte at which each bit of an element's row-major number puts it, alone; several bits by
/// exclusive or, so that swizzles are such lists, too.
using Places = LinearLayout::Bases;

/// Of tiles that lie row by row, each element in `bytes`.
Places rowMajorPlaces(const LinearLayout::Shape &shape, int64_t bytes);
int64_t placeOf(int64_t element, const Places &places);
/// The bytes, instead of the elements, that a layout holds.
LinearLayout placesOf(const LinearLayout &elements, const Places &places);
/// How many registers from a multiple on have elements that lie behind each other, `bytes` each.
int64_t neighboursIn(const LinearLayout &places, int64_t bytes);

} // namespace nereid::layout
