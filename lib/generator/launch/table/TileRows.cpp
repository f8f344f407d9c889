// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/launch/table/TileRows.h"

#include "lib/generator/launch/Table.h"
#include "lib/generator/template/Blocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {

bool isSerial(const std::vector<TileDim> &dims) {
  return std::any_of(dims.begin(), dims.end(), [](const TileDim &dim) {
    return dim.form == DimForm::Looped && dim.blockAtMost == 1;
  });
}

bool isColumns(const std::vector<TileDim> &dims) {
  return dims.size() > 1 && dims[dims.size() - 2].form != DimForm::Grid && !isOfPlanes(dims);
}

bool isOfPlanes(const std::vector<TileDim> &dims) {
  return dims.size() > 1 && dims[dims.size() - 2].form == DimForm::Whole &&
         dims.back().form == DimForm::Whole && dims.back().largest.empty();
}

std::string blockOfRow(const std::vector<TileDim> &dims) {
  return isOfPlanes(dims) ? dims[dims.size() - 2].block + "*" + dims.back().block
                          : dims.back().block;
}

bool isLoopOfColumns(const std::vector<TileDim> &dims) {
  return isColumns(dims) && !isSerial(dims) && dims[dims.size() - 2].form == DimForm::Looped;
}

bool isLoopOfRows(const std::vector<TileDim> &dims) {
  return dims.size() > 1 && dims.back().form == DimForm::Looped;
}

std::string partOfRow(const StageKernel &kernel) {
  const std::string part = fmt::format("{}//4", rowElementsName);
  return kernel.joinsTurns ? part : fmt::format("{}//(1 + {})", part, onDeviceName);
}

std::string launchResults(const StageKernel &kernel, const Program &program) {
  std::string all = "1";
  for (const TileDim &dim : kernel.dims) {
    all += dim.form == DimForm::Grid ? "*" + launchExtent(dim, program) : "";
  }
  return all;
}

} // namespace nereid::generator
