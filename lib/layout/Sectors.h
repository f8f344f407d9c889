// SPDX-License-Identifier: Apache-2.0
// How much of what memory moves the threads of a warp use: it moves sectors of 32 bytes, each once
// for an instruction of the warp, whichever lanes want it.
//
//   32 lanes with 4 bytes each, side by side:            4 sectors, all 128 bytes used
//   32 lanes with 4 bytes each, rows 1024 bytes apart:   32 sectors, 4 bytes of each used
#pragma once

#include "lib/layout/LinearLayout.h"

#include <optional>
#include <span>

namespace nereid::layout {

inline constexpr int64_t sectorBytes = 32;

/// What is known of a tile's addresses along one dimension: in groups of `length`, which begin at a
/// multiple of it, each is the one before plus `stride` elements. Without a stride nothing is.
struct AddressRun {
  int64_t length = 1;
  std::optional<int64_t> stride;
};

struct SectorUse {
  int64_t bytes = 0;   ///< of different elements
  int64_t sectors = 0; ///< in which they lie
  double share() const {
    return static_cast<double>(bytes) / static_cast<double>(sectors * sectorBytes);
  }
};

/// Of one instruction of a warp, by which each lane accesses so many registers, from the first one
/// on. `runs` has one for each dimension. Groups of addresses are taken to begin with a sector and
/// to share none; elements at one address count once.
SectorUse sectorUse(const LinearLayout &layout, int64_t registers, std::span<const AddressRun> runs,
                    int64_t elementBytes);

} // namespace nereid::layout
