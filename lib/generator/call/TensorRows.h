// SPDX-License-Identifier: Apache-2.0
// How the rows of a tensor lie in memory: its last dimensions, which have no gaps, and the even
// steps from one to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nereid::generator {

/// Elements from row to row, all dimensions before the last `dims` together; where there is one
/// row, its length. Nothing when rows have gaps inside, steps differ or go back.
std::optional<int64_t> rowStrideOf(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                   size_t dims);

} // namespace nereid::generator
