// SPDX-License-Identifier: Apache-2.0
// What a schedule costs, by arithmetic over its tiles: how many bytes
// are moved and how often, in runs of which length, by how many programs and turns of loops, in
// tiles of which size. Rates are measured; these figures say what a change of schedule changes.
//
//   a product of 1024 x 1024 matrices in tiles of 64 x 64: 256 programs, each reads 64 rows and 64
//   columns, so that every byte is moved 16 times; of 128 x 128: 64 programs, 8 times
#pragma once

#include "lib/generator/Schedule.h"
#include "lib/generator/launch/Table.h"
#include "lib/machine/Machine.h"

namespace nereid::generator {

/// Of one launch.
struct LaunchFigures {
  std::string role;
  int64_t programs = 0;
  double pieces = 0;        ///< of equal work that programs take, one at least where all have some
  double elements = 0;      ///< of the index space
  double tiledElements = 0; ///< of all tiles together, those behind its ends included
  double tile = 0;          ///< elements that a program works on at a time
  double turns = 0;         ///< of the loops of all programs
  double ownBytes = 0;      ///< of all that is read and written, each byte once
  double leftBytes = 0;     ///< of these, of sums that one kernel leaves to the next
  double movedBytes = 0;    ///< as often as tiles ask for it
  /// From memory, where caches hold what one wave of programs reads and no more.
  double fetchedBytes = 0;
  double runs = 0;               ///< of neighbouring elements
  double tileBytes = 0;          ///< of one program
  double sums = 0;               ///< elements that stay in registers over the turns of a loop
  int64_t warps = 0, stages = 0; ///< of devices
};

/// Of each kernel that the sizes take, in order.
Result<std::vector<LaunchFigures>> figuresOf(const LaunchTable &table,
                                             const std::map<std::string, int64_t> &symbols,
                                             const LaunchSite &site, const ChosenValues &chosen);
/// The same of launches that are bound already; `extents` as bindExtents() has them.
std::vector<LaunchFigures> figuresOf(const LaunchTable &table,
                                     const std::vector<BoundLaunch> &launches,
                                     const std::vector<std::vector<int64_t>> &extents,
                                     const LaunchSite &site);

/// Three parts of the time of all launches, each in units of its own: comparable between schedules
/// of the same sizes alone.
struct ScheduleCost {
  double arithmetic = 0, memory = 0, waiting = 0;
};
ScheduleCost costOf(const std::vector<LaunchFigures> &figures, const Machine &chip);

/// Places in the waves of programs that have one, 1 = all.
double waveFraction(const LaunchFigures &figures, const Machine &chip);
/// A tile's size by the room it has, above 1 it does not fit.
double pressureOf(const LaunchFigures &figures, const Machine &chip);

/// Old time by new time, as far as the measured shares of the time say which part counts.
double expectedGain(const ScheduleCost &before, const ScheduleCost &after,
                    const Diagnosis &diagnosis);

/// Fills in what `diagnosis` says of tiles.
void describeTiles(const std::vector<LaunchFigures> &figures, const Machine &chip,
                   Diagnosis &diagnosis);

} // namespace nereid::generator
