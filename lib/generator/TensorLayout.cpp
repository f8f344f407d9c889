// SPDX-License-Identifier: Apache-2.0
// Collapses a tensor's dimensions into the groups of the iteration space, see TensorLayout.h.
#include "lib/generator/TensorLayout.h"

#include <algorithm>

namespace nereid::generator {
namespace {

struct Extent1d {
  int64_t size = 1, stride = 1;
};

/// One stride for several dimensions walked in order, outermost first; nothing when they are not
/// evenly spaced. Dimensions of size 1 never move.
std::optional<Extent1d> collapse(const std::vector<Extent1d> &dims) {
  Extent1d whole;
  bool isFirst = true;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (dim->size == 1) {
      continue;
    }
    if (isFirst) {
      whole = *dim;
      isFirst = false;
    } else if (dim->stride == whole.stride * whole.size) {
      whole.size *= dim->size;
    } else {
      return std::nullopt;
    }
  }
  return whole;
}

/// The group an axis of the space belongs to.
std::vector<size_t> groupOfAxis(const std::vector<SizeProduct> &groups) {
  std::vector<size_t> result;
  for (size_t g = 0; g < groups.size(); ++g) {
    result.insert(result.end(), groups[g].dims.size(), g);
  }
  return result;
}

} // namespace

std::vector<int64_t> contiguousStrides(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i > 1; --i) {
    strides[i - 2] = strides[i - 1] * std::max<int64_t>(sizes[i - 1], 1);
  }
  return strides;
}

size_t rowDimensions(const FusedOperator &fused, const Operand &operand,
                     const definition::Binding &binding) {
  const std::vector<int> &axes = fused.nodes[static_cast<size_t>(operand.node)].axes;
  const size_t firstColumn = fused.rows.dims.size();
  size_t count = 0;
  for (size_t i = operand.shape.size(); i-- > 0;) {
    bool isRow = axes[i] >= 0 && static_cast<size_t>(axes[i]) < firstColumn;
    if (isRow) {
      break;
    }
    count += operand.shape[i].isRest() ? binding.rest.size() : 1;
  }
  return count;
}

TensorLayout layoutOf(const FusedOperator &fused, const Operand &operand,
                      const definition::Binding &binding, std::span<const int64_t> sizes,
                      std::span<const int64_t> strides) {
  const std::vector<int> &axes = fused.nodes[static_cast<size_t>(operand.node)].axes;
  std::vector<size_t> rowGroup = groupOfAxis(fused.rowGroups);
  std::vector<size_t> columnGroup = groupOfAxis(fused.columnGroups);
  std::vector<std::vector<Extent1d>> rows(fused.rowGroups.size());
  std::vector<std::vector<Extent1d>> columns(fused.columnGroups.size());
  std::vector<Extent1d> allRows, allColumns, all;
  TensorLayout layout;
  size_t at = 0;
  for (size_t i = 0; i < operand.shape.size(); ++i) {
    size_t count = operand.shape[i].isRest() ? binding.rest.size() : 1;
    for (size_t k = 0; k < count && at < sizes.size(); ++k, ++at) {
      Extent1d dim{sizes[at], strides[at]};
      layout.isUsable &= dim.size <= 1 || dim.stride >= 0;
      layout.largestOffset += std::max<int64_t>(dim.size - 1, 0) * std::max<int64_t>(dim.stride, 0);
      all.push_back(dim);
      int axis = axes[i];
      if (axis < 0) {
        continue;
      }
      size_t a = static_cast<size_t>(axis);
      if (a < rowGroup.size()) {
        rows[rowGroup[a]].push_back(dim);
        allRows.push_back(dim);
      } else {
        columns[columnGroup[a - rowGroup.size()]].push_back(dim);
        allColumns.push_back(dim);
      }
    }
  }
  auto flat = collapse(all);
  layout.isFlat = flat && (flat->size == 1 || flat->stride == 1);
  // A row of a single tensor dimension of size 1 keeps the stride a contiguous tensor would have.
  auto strideOf = [&](const std::vector<Extent1d> &dims, int64_t natural) {
    auto whole = collapse(dims);
    layout.isUsable &= whole.has_value();
    return !whole ? 0 : whole->size == 1 ? natural : whole->stride;
  };
  int64_t width = 1;
  for (const Extent1d &dim : allColumns) {
    width *= std::max<int64_t>(dim.size, 1);
  }
  if (operand.hasAllRows()) {
    layout.rowStride = strideOf(allRows, width);
  }
  for (size_t g = 0; g < rows.size(); ++g) {
    bool isGeneral = operand.rowGroups[g] && !operand.hasAllRows();
    layout.rowGroupStrides.push_back(isGeneral ? strideOf(rows[g], width) : 0);
  }
  for (size_t g = 0; g < columns.size(); ++g) {
    bool isGeneral = operand.columnGroups[g] && !operand.hasAllColumns();
    layout.columnGroupStrides.push_back(isGeneral ? strideOf(columns[g], 1) : 0);
  }
  if (operand.hasAllColumns() && strideOf(allColumns, 1) != 1) {
    layout.isUsable = false;
  }
  return layout;
}

} // namespace nereid::generator
