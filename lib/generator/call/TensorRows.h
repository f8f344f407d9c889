// SPDX-License-Identifier: Apache-2.0
// How the rows of a tensor lie in memory: its last dimensions, which have no gaps, and the even
// steps from one to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nereid::generator {

struct TensorRows {
  int64_t count = 1, length = 1; ///< elements of a row
  int64_t stride = 1;            ///< elements from row to row; where there is one, its length
  bool areApart() const { return count <= 1 || stride >= length; }
};

/// All dimensions before the last `dims` are rows. Nothing when these have gaps inside, steps
/// differ or go back.
std::optional<TensorRows> rowsOf(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                 size_t dims);

} // namespace nereid::generator
