// SPDX-License-Identifier: Apache-2.0
// How a concrete tensor lies in the rows × columns of a kernel: strides per row group and column
// group, or the finding that it needs a contiguous copy first.
#pragma once

#include "lib/generator/KernelInterface.h"

namespace nereid::generator {

struct TensorLayout {
  int64_t rowStride = 0;                ///< when it moves along all rows
  std::vector<int64_t> rowGroupStrides; ///< per row group, 0 where it does not move
  std::vector<int64_t> columnGroupStrides;
  int64_t largestOffset = 0; ///< of any element
  bool isFlat = false;       ///< contiguous: one run of elements
  bool isUsable = true;      ///< false: make it contiguous first
};

/// Strides in elements as in a tensor; sizes and strides have one entry per concrete dimension.
TensorLayout layoutOf(const FusedOperator &fused, const Operand &operand,
                      const definition::Binding &binding, std::span<const int64_t> sizes,
                      std::span<const int64_t> strides);
/// How many of a tensor's last dimensions lie within one row of the kernel: what is in front of
/// them may have any one stride. 0 for a value per row.
size_t rowDimensions(const FusedOperator &fused, const Operand &operand,
                     const definition::Binding &binding);
std::vector<int64_t> contiguousStrides(std::span<const int64_t> sizes);

} // namespace nereid::generator
