// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/call/TensorRows.h"

#include <algorithm>

namespace nereid::generator {

std::optional<int64_t> rowStrideOf(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                   size_t dims) {
  const size_t rowDims = sizes.size() - std::min(dims, sizes.size());
  int64_t length = 1, rows = 1;
  std::optional<int64_t> stride;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] == 1) { // never moves
      continue;
    }
    if (dim >= rowDims) {
      if (strides[dim] != length) {
        return std::nullopt;
      }
      length *= sizes[dim];
      continue;
    }
    stride = stride.value_or(strides[dim]);
    if (strides[dim] != *stride * rows || *stride < 0) {
      return std::nullopt;
    }
    rows *= sizes[dim];
  }
  return stride.value_or(length);
}

} // namespace nereid::generator
