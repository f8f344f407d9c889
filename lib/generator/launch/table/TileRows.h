// SPDX-License-Identifier: Apache-2.0
// What the dimensions of a tile are to each other: rows that are reduced, columns, planes; and the
// expressions of launches that follow.
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Columns of a tile that lies inside of a dimension that is reduced, wherever it is launched.
inline constexpr int64_t columnsOfTile = 64;
/// From this length on a row that is reduced whole has a program of its own: tiles of several leave
/// the first-level cache between the passes over them, and on devices one row fills the lanes.
inline constexpr int64_t elementsOfLongRow = 512;

/// Whether a reduction is taken element after element.
bool isSerial(const std::vector<TileDim> &dims);
/// Whether the innermost dimension lies inside of one that is reduced.
bool isColumns(const std::vector<TileDim> &dims);
/// The same, where that one is walked over in a loop of blocks.
bool isLoopOfColumns(const std::vector<TileDim> &dims);
/// Whether each row is walked over in pieces.
bool isLoopOfRows(const std::vector<TileDim> &dims);
/// Whether a row that is whole has two dimensions, see template/Reduce.h. Where a line is sorted,
/// what stands behind it has a block of its own.
bool isOfPlanes(const std::vector<TileDim> &dims);

/// The block of a row that is whole in a tile.
std::string blockOfRow(const std::vector<TileDim> &dims);
/// What a loop over a row takes at a time; more where a device's threads wait for each other in
/// each turn.
std::string partOfRow(const StageKernel &kernel);
/// Points of the dimensions that the grid divides.
std::string launchResults(const StageKernel &kernel, const Program &program);

} // namespace nereid::generator
