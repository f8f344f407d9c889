// SPDX-License-Identifier: Apache-2.0
// The choice between one kernel and parts, see SplitSchedule.h.
#include "lib/generator/template/SplitSchedule.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/launch/Table.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Reduce.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

constexpr int64_t partsOfLines = 64, partsOfAll = 256, partsOfProducts = 8;
/// Shorter reductions are not worth a second launch.
constexpr int64_t shortest = 1024;
/// Rows that are reduced: four turns of a loop take as long as another launch (H100).
constexpr int64_t shortestLine = 256;
/// Lines that are read along: elements times processors from which on parts save more time than
/// their launches take. 16,000 elements on an H100 (132), 131,000 on 16 cores.
constexpr int64_t shortestByProcessors = int64_t{1} << 21;

/// Extents of all these iterators, divided by `block` of the last one.
std::string programsText(const TileDim &dim, int64_t block, const Program &program) {
  return block == 1 ? launchExtent(dim, program)
                    : fmt::format("cdiv({}, {})", launchExtent(dim, program), block);
}

std::optional<SplitSchedule> splitProducts(Program &program, const std::vector<Store> &stores,
                                           const Contraction &first) {
  const TileDim k{"", "", first.k};
  if (program.space.symbols.isAtMost(extentOf(k, program), shortest - 1)) {
    return std::nullopt;
  }
  std::string tiles = "4"; // fewer than a quarter of the processors have one
  for (const auto &[iterators, block] :
       {std::pair(&first.batch, 1), std::pair(&first.m, 64), std::pair(&first.n, 64)}) {
    if (!iterators->empty()) {
      tiles += "*" + programsText({"", "", *iterators}, block, program);
    }
  }
  const std::string extent = launchExtent(k, program);
  auto split = splitReductions(program, stores, partsOfProducts);
  return split ? std::optional(SplitSchedule{
                     std::move(*split),
                     fmt::format("({} <= {})*({} >= {})", tiles, processorsName, extent, shortest)})
               : std::nullopt;
}

} // namespace

std::optional<SplitSchedule> splitScheduleOf(Program &program, const std::vector<Store> &stores,
                                             const std::vector<Contraction> &contractions) {
  if (!contractions.empty()) {
    return splitProducts(program, stores, contractions[0]);
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
  std::string condition =
      fmt::format("({} < 2*{})*({} >= {})", programs, processorsName, extent, least);
  if (isInnermost) {
    condition += fmt::format("*({}*{} >= {})", extent, processorsName, shortestByProcessors);
  }
  auto split = splitReductions(program, stores, dims.size() == 1 ? partsOfAll : partsOfLines);
  return split ? std::optional(SplitSchedule{std::move(*split), std::move(condition)})
               : std::nullopt;
}

} // namespace nereid::generator
