// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/call/TensorRows.h"

#include <algorithm>

namespace nereid::generator {

std::optional<TensorRows> rowsOf(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                 size_t dims) {
  const size_t rowDims = sizes.size() - std::min(dims, sizes.size());
  TensorRows rows;
  std::optional<int64_t> stride;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] == 1) { // never moves
      continue;
    }
    if (dim >= rowDims) {
      if (strides[dim] != rows.length) {
        return std::nullopt;
      }
      rows.length *= sizes[dim];
      continue;
    }
    stride = stride.value_or(strides[dim]);
    if (strides[dim] != *stride * rows.count || *stride < 0) {
      return std::nullopt;
    }
    rows.count *= sizes[dim];
  }
  rows.stride = stride.value_or(rows.length);
  return rows;
}

} // namespace nereid::generator
