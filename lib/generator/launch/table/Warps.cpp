// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/launch/table/Warps.h"

#include "lib/generator/launch/Table.h"
#include "lib/generator/launch/table/TileRows.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// Of a device's warp, see LaunchSite; and of one in a loop over a row that is reduced, where few
/// programs are at work and each has to ask for much at a time (H200, 120 sizes). Warps that wait
/// for each other in each turn have more (H200, 32 sizes).
constexpr int64_t elementsOfWarp = 512, elementsOfLoopingWarp = 128, elementsOfJoiningWarp = 1024;
/// A loop over columns: with two programs for each processor half of the warps are enough.
constexpr int64_t warpsOfColumns = 16;
/// Rows that are made of several loads ask for as many bytes with half the elements of a lane,
/// where these have more than 16 bits: twice the warps, as far as a processor still has several
/// programs.
constexpr int64_t bytesOfHalves = 2, mostWarpsOfHalves = 16;
/// So many rows for each processor keep it at work with the fewest warps for each.
constexpr int64_t rowsOfProcessor = 16;

/// The term of those rows, see bytesOfHalves; else nothing.
std::string warpsOfHalves(const StageKernel &kernel, const std::string &block) {
  const size_t ofRow = isOfPlanes(kernel.dims) ? 2 : 1;
  const auto loads =
      std::count_if(kernel.accesses.begin(), kernel.accesses.end(), [&](const TileAccess &each) {
        return !each.isStore && !each.dims.empty() &&
               *each.dims.rbegin() + ofRow >= kernel.dims.size();
      });
  return loads < 2 ? ""
                   : fmt::format(", min({}, {}*({} > {})//{})", mostWarpsOfHalves, block,
                                 elementBytesName, bytesOfHalves, elementsOfWarp / 2);
}

} // namespace

std::string warpsOf(const StageKernel &kernel, const Program &program) {
  const std::vector<TileDim> &dims = kernel.dims;
  const bool isWholeResult = kernel.role.starts_with("reduce"); // not a part of it
  if (isWholeResult && isLoopOfColumns(dims)) {
    return fmt::format("{}//(1 + (cdiv({}, {}) >= 2*{}))", warpsOfColumns,
                       launchResults(kernel, program), columnsOfTile, processorsName);
  }
  if (dims.empty() || isColumns(dims) || dims.back().form == DimForm::Grid ||
      dims.back().blockAtMost == 1) {
    return "";
  }
  const std::string block = blockOfRow(dims);
  // Of many rows one or two warps have a short one each, and wait for fewer.
  const std::string least =
      kernel.role.find("reduce") == std::string::npos
          ? std::to_string(leastWarps)
          : fmt::format("{0}*({1} < {2}), {0}*({3} < {4}*{5})", leastWarps, block,
                        elementsOfLongRow, launchResults(kernel, program), rowsOfProcessor,
                        processorsName);
  return dims.back().form == DimForm::Whole
             ? fmt::format("max({}{}, min({}, max(1, {}//{})))", least,
                           warpsOfHalves(kernel, block), mostWarps, block, elementsOfWarp)
         : dims.size() > 1
             ? fmt::format("min({}, max({}, {}//{}))", mostWarps, leastWarps, partOfRow(kernel),
                           kernel.joinsTurns ? elementsOfJoiningWarp
                           : isWholeResult   ? elementsOfLoopingWarp
                                             : elementsOfWarp)
             : "";
}

} // namespace nereid::generator
