// SPDX-License-Identifier: Apache-2.0
// The choice between one kernel and parts, see SplitSchedule.h.
#include "lib/generator/template/SplitSchedule.h"

#include "lib/generator/fuse/OnlineReductions.h"
#include "lib/generator/fuse/Partition.h"
#include "lib/generator/fuse/split/SplitCounts.h"
#include "lib/generator/fuse/split/SplitScan.h"
#include "lib/generator/fuse/split/SplitWalk.h"
#include "lib/generator/launch/Table.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Count.h"
#include "lib/generator/template/Reduce.h"
#include "lib/generator/template/Scan.h"
#include "lib/generator/template/Walk.h"
#include "lib/generator/template/access/Contiguity.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

constexpr int64_t partsOfLines = 64, partsOfAll = 256, partsOfProducts = 8, partsOfScans = 256;
/// Shorter reductions are not worth a second launch.
constexpr int64_t shortest = 1024;
/// Elements of a product's sums where each processor of a device has one tile, from which on parts
/// are worth it (H200, 36 sizes).
constexpr int64_t shortestOfTile = 4096;
/// Rows that are reduced; on devices so many times as many, which programs of many warps take in
/// the time of the launches (H200, 36 sizes).
constexpr int64_t shortestLine = 256, linesOfDevice = 8;
/// Programs of whole results, of which two for each processor are enough; a device is at work with
/// fewer: so many times as many count, rows as long as the last ones do not take longer than parts.
constexpr int64_t columnsOfDevice = 2, rowsOfDevice = 4, longestOfDevice = int64_t{1} << 18;
/// Lines that are read along: elements times processors from which on parts save more time than
/// their launches take. 16,000 elements on an H100 (132), 131,000 on 16 cores.
constexpr int64_t shortestByProcessors = int64_t{1} << 21;
/// Values that are counted in parts, and of them for each place: the parts' counts are moved twice.
constexpr int64_t fewestCounted = 16384, valuesOfPlace = 8;
/// Values that are walked along, lanes that do so, and elements of the result for each processor: a
/// step takes as long as some 500 of them need to look at a value (H100, estimated).
constexpr int64_t leastWalked = 64, leastWalking = 64, resultsOfProcessor = 512;
/// Parts of such values, and what all parts have to clear and to add up for each value: an element
/// of memory moves in a hundredth of the time that a turn waits (H200, estimated).
constexpr int64_t mostPartsOfWalk = 64, clearedOfValue = 8;

/// Extents of all these iterators, divided by `block` of the last one.
std::string programsText(const TileDim &dim, int64_t block, const Program &program) {
  return block == 1 ? launchExtent(dim, program)
                    : fmt::format("cdiv({}, {})", launchExtent(dim, program), block);
}

/// Where not a quarter of the processors has a tile; on devices up to two tiles for each, if sums
/// are the longer the more tiles there are, as parts go through memory.
std::string conditionOfProducts(const std::string &tiles, const std::string &extent) {
  return fmt::format("({0} >= {1})*(4*{2} <= {3}*(1 + 7*{4}))*({4}*{5}*{2} <= {3}*{0})", extent,
                     shortest, tiles, processorsName, onDeviceName, shortestOfTile);
}

std::optional<SplitSchedule> splitProducts(Program &program, const std::vector<Store> &stores,
                                           const Contraction &first) {
  const TileDim k{"", "", first.k};
  if (program.space.symbols.isAtMost(extentOf(k, program), shortest - 1)) {
    return std::nullopt;
  }
  std::string tiles = "1";
  for (const auto &[iterators, block] :
       {std::pair(&first.batch, 1), std::pair(&first.m, 64), std::pair(&first.n, 64)}) {
    if (!iterators->empty()) {
      tiles += "*" + programsText({"", "", *iterators}, block, program);
    }
  }
  const std::string extent = launchExtent(k, program);
  auto split = splitReductions(program, stores, partsOfProducts);
  return split ? std::optional(SplitSchedule{std::move(*split), conditionOfProducts(tiles, extent)})
               : std::nullopt;
}

/// Parts are read twice and take two more launches; a line that one program walks along alone waits
/// in each turn for the turn before. So while less than half of the processors have a line.
std::optional<SplitSchedule> splitLine(Program &program, const std::vector<Store> &stores,
                                       const Node &line) {
  const Polynomial length = program.space.iterators[line.iterators[0]].extent;
  auto place = placeOf(program, stores, line);
  if (!place || program.space.symbols.isAtMost(length, wholeAtMost)) {
    return std::nullopt;
  }
  std::vector<IteratorId> rows = orderOf(program, stores);
  std::erase(rows, *place);
  const std::string extent = "(" + launchText(length, program) + ")";
  std::string condition = fmt::format("(2*{} < {})*({}*{} >= {})",
                                      rows.empty() ? "1" : launchExtent({"", "", rows}, program),
                                      processorsName, extent, processorsName, shortestByProcessors);
  auto split = splitScan(program, stores, line, partsOfScans);
  return split ? std::optional(SplitSchedule{std::move(*split), std::move(condition)})
               : std::nullopt;
}

/// Where additions to one place wait for each other, and there are many for each place.
std::optional<SplitSchedule> splitAdditions(Program &program, const std::vector<Store> &stores) {
  const Buffer &table = program.buffers[stores[0].buffer];
  const std::set<IteratorId> iterators = program.iteratorsOf(stores[0]);
  if (table.sizes.size() != 1 || iterators.size() != 1 ||
      (table.sizes[0].constant() && *table.sizes[0].constant() > mostCounted)) {
    return std::nullopt;
  }
  const std::string bins = "(" + launchText(table.sizes[0], program) + ")";
  const std::string values = launchExtent({"", "", {*iterators.begin()}}, program);
  auto split = splitCounts(program, stores, partsOfAll);
  return split ? std::optional(SplitSchedule{
                     std::move(*split),
                     fmt::format("{}*({} <= {})*({} >= {})*({} >= {}*{})", waitingName, bins,
                                 mostCounted, values, fewestCounted, values, valuesOfPlace, bins)})
               : std::nullopt;
}

/// As many as keep the site at work, with as many turns in each.
Polynomial partsOfWalk(Program &program, const Walk &walk) {
  const std::string along = launchExtent({"", "", walk.along}, program);
  const std::string turns = fmt::format("cdiv({}, {})", along, valuesOfTurn);
  const std::string wanted = fmt::format(
      "max(1, min({}, {}*{}//max(1, cdiv({}, {})), {}*{}//max(1, {})))", mostPartsOfWalk,
      processorsName, programsAtATimeName, launchExtent({"", "", walk.shared}, program),
      lanesOfWalk, clearedOfValue, along, launchExtent({"", "", walk.places}, program));
  Symbol parts{"parts", 1, mostPartsOfWalk};
  for (int count = 2; program.space.symbols.find(parts.name); ++count) {
    parts.name = fmt::format("parts_{}", count);
  }
  parts.chosenBy = fmt::format("max(1, cdiv({0}, max(1, cdiv({0}, {1}))))", turns, wanted);
  return program.space.symbols.add(std::move(parts));
}

/// Where naming each place for each value takes longer than one program's way along all values.
std::optional<SplitSchedule> splitMeetings(Program &program, const std::vector<Store> &stores) {
  std::optional<Walk> walk =
      splitWalk(program, stores, [&](const Walk &found) { return partsOfWalk(program, found); });
  if (!walk) {
    return std::nullopt;
  }
  const std::string shared = launchExtent({"", "", walk->shared}, program);
  return SplitSchedule{std::move(walk->split),
                       fmt::format("({} >= {})*({} >= {})*({}*{} >= {}*{})",
                                   launchExtent({"", "", walk->along}, program), leastWalked,
                                   shared, leastWalking,
                                   launchExtent({"", "", walk->places}, program), shared,
                                   resultsOfProcessor, processorsName)};
}

} // namespace

std::optional<SplitSchedule> splitScheduleOf(Program &program, const std::vector<Store> &stores,
                                             const std::vector<Contraction> &contractions) {
  if (const Node *line = lineOf(stores)) {
    return splitLine(program, stores, *line);
  }
  if (!reduces(stores)) {
    return splitAdditions(program, stores);
  }
  if (!contractions.empty()) {
    return splitProducts(program, stores, contractions[0]);
  }
  if (std::optional<SplitSchedule> walked = splitMeetings(program, stores)) {
    return walked;
  }
  const std::vector<TileDim> dims = firstReduceTile(program, stores, DimForm::Looped);
  const bool isInnermost = dims.back().form != DimForm::Grid;
  const int64_t least = isInnermost ? wholeAtMost + 1 : shortestLine;
  const Polynomial length = reducedExtent(program, stores);
  if (program.space.symbols.isAtMost(length, least - 1)) {
    return std::nullopt;
  }
  std::string programs = "1", extent;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].form == DimForm::Looped) {
      extent = launchExtent(dims[dim], program);
    } else {
      const bool isColumns = dim + 1 == dims.size();
      programs += "*" + programsText(dims[dim], isColumns && !isInnermost ? 64 : 1, program);
    }
  }
  const std::string more = isInnermost ? fmt::format("{}*{}*({} < {})", rowsOfDevice - 1,
                                                     onDeviceName, extent, longestOfDevice)
                                       : fmt::format("{}*{}", columnsOfDevice - 1, onDeviceName);
  std::string condition = fmt::format("({}*(1 + {}) < 2*{})", programs, more, processorsName);
  // A row that one tile holds is read once, in little more time than a launch takes.
  condition +=
      isInnermost
          ? fmt::format("*({} > {})*({}*{} >= {})", heldLength(program, stores), rowElementsName,
                        extent, processorsName, shortestByProcessors)
          : fmt::format("*({} >= {}*(1 + {}*{}))", extent, least, linesOfDevice - 1, onDeviceName);
  auto split =
      splitReductions(program, isInnermost ? withOnlineReductions(program, stores).inParts : stores,
                      dims.size() == 1 ? partsOfAll : partsOfLines);
  return split ? std::optional(SplitSchedule{std::move(*split), std::move(condition)})
               : std::nullopt;
}

} // namespace nereid::generator
