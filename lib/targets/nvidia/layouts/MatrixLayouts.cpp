// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/MatrixLayouts.h"

#include <algorithm>

namespace nereid::nvidia {

using layout::LinearLayout;

namespace {

/// Steps from `first` to the last power of two below `end`, each times `unit`.
void addSteps(LinearLayout::Bases &list, int64_t first, int64_t end, int64_t unit) {
  for (int64_t step = first; step < end; step <<= 1) {
    list.push_back(step * unit);
  }
}

/// The bits of the warps' numbers. A step is 0 where the operand does not depend on it.
LinearLayout::Bases warpBases(const WarpGrid &warps, int64_t rowStep, int64_t columnStep) {
  LinearLayout::Bases bases;
  if (warps.isOfWarpgroups) {
    addSteps(bases, 1, warps.rows, rowStep);
    addSteps(bases, 1, warps.columns, columnStep);
  } else {
    addSteps(bases, 1, warps.columns, columnStep);
    addSteps(bases, 1, warps.rows, rowStep);
  }
  return bases;
}

/// From a warp's first column to that of the next warp.
int64_t columnStep(const WarpGrid &warps, int64_t columns) {
  return warps.isOfWarpgroups ? columns / warps.columns : 8;
}

/// Steps between a thread's columns beyond the first eight.
void addColumns(LinearLayout::Bases &registers, const WarpGrid &warps, int64_t columns,
                int64_t unit) {
  if (warps.isOfWarpgroups) {
    addSteps(registers, 8, columns / warps.columns, unit);
  } else {
    addSteps(registers, 8 * warps.columns, columns, unit);
  }
}

/// Warps beyond the last row are replicas: the grid has no columns beyond the tile.
void dropBeyond(LinearLayout::Bases &ofWarps, int64_t size) {
  std::replace_if(ofWarps.begin(), ofWarps.end(), [&](int64_t basis) { return basis >= size; }, 0);
}

} // namespace

WarpGrid warpGridFor(int64_t rows, int64_t columns, int64_t warps) {
  WarpGrid grid;
  while (grid.rows * grid.columns < warps) {
    // Square parts read least; a warp beyond the tile's end holds a replica.
    const int64_t high = rows / grid.rows, wide = columns / grid.columns;
    (high >= wide && high > 16) || wide <= 8 ? grid.rows *= 2 : grid.columns *= 2;
  }
  return grid;
}

std::optional<WarpGrid> warpgroupGridFor(int64_t rows, int64_t columns, int64_t warps) {
  constexpr int64_t ofGroup = 4, height = 64;
  if (warps % ofGroup != 0 || rows < height) {
    return std::nullopt;
  }
  WarpGrid grid{.rows = std::min(warps, rows / (height / ofGroup)), .isOfWarpgroups = true};
  grid.columns = warps / grid.rows;
  return columns / grid.columns < 8 ? std::nullopt : std::optional(grid);
}

LinearLayout accumulatorLayout(int64_t rows, int64_t columns, const WarpGrid &warps) {
  LinearLayout::Bases registers{1, 8 * columns};
  LinearLayout::Bases lanes{2, 4, columns, 2 * columns, 4 * columns};
  addColumns(registers, warps, columns, 1);
  addSteps(registers, 16 * warps.rows, rows, columns);
  auto ofWarps = warpBases(warps, 16 * columns, columnStep(warps, columns));
  dropBeyond(ofWarps, rows * columns);
  return {{rows, columns}, std::move(registers), std::move(lanes), std::move(ofWarps)};
}

LinearLayout leftLayout(int64_t rows, int64_t k, const MatrixShape &shape, const WarpGrid &warps) {
  const int64_t packed = 32 / shape.elementBits; // elements of one 32-bit register along k
  LinearLayout::Bases registers;
  addSteps(registers, 1, packed, 1);
  registers.push_back(8 * k);
  registers.push_back(4 * packed);
  LinearLayout::Bases lanes{packed, 2 * packed, k, 2 * k, 4 * k};
  addSteps(registers, shape.k, k, 1);
  addSteps(registers, 16 * warps.rows, rows, k);
  auto ofWarps = warpBases(warps, 16 * k, 0);
  dropBeyond(ofWarps, rows * k);
  return {{rows, k}, std::move(registers), std::move(lanes), std::move(ofWarps)};
}

LinearLayout rightLayout(int64_t k, int64_t columns, const MatrixShape &shape,
                         const WarpGrid &warps) {
  const int64_t packed = 32 / shape.elementBits;
  LinearLayout::Bases registers;
  addSteps(registers, 1, packed, columns);
  registers.push_back(4 * packed * columns);
  LinearLayout::Bases lanes{packed * columns, 2 * packed * columns, 1, 2, 4};
  addSteps(registers, shape.k, k, columns);
  addColumns(registers, warps, columns, 1);
  return {{k, columns},
          std::move(registers),
          std::move(lanes),
          warpBases(warps, 0, columnStep(warps, columns))};
}

} // namespace nereid::nvidia
