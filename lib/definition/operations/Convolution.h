// SPDX-License-Identifier: Apache-2.0
// The geometry of conv2d: attributes as PyTorch takes them, turned into numbers; the
// shape of the result, symbolic and concrete. Read by shape inference, the cost model, the
// tolerance and eager execution.
#pragma once

#include "lib/definition/operations/Operations.h"

#include <array>
#include <span>

namespace nereid::definition {

/// One spatial dimension of a convolution.
struct Window {
  int64_t size = 0, kernel = 0, result = 0;
  int64_t stride = 1, dilation = 1, before = 0, after = 0; ///< before, after: padding
  /// Input position that tap `tap` of result `at` reads; outside [0, size) it is padding.
  int64_t position(int64_t at, int64_t tap) const { return at * stride - before + tap * dilation; }
};

/// input [batch, channels, height, width] by weight [features, channels / groups, kernel height,
/// kernel width]; an input without batch has batch 1.
struct ConvolutionSizes {
  bool hasBatch = true;
  int64_t batch = 1, channels = 0, features = 0, groups = 1;
  Window height, width;
  int64_t channelsPerGroup() const { return channels / groups; }
  int64_t featuresPerGroup() const { return features / groups; }
  /// Products that are added for one element of the result, padding included.
  int64_t terms() const { return channelsPerGroup() * height.kernel * width.kernel; }
};

/// Stride, padding, dilation and groups of a conv2d node; E0608 when they cannot be.
struct ConvolutionAttributes {
  std::array<int64_t, 2> stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  bool isSame = false; ///< padding="same": the result has the input's size
  int64_t groups = 1;
};
Result<ConvolutionAttributes> convolutionAttributes(const Node &node);

/// Sizes of a conv2d node for concrete operands; E0604 when they do not fit.
Result<ConvolutionSizes> convolutionSizes(const Node &node, std::span<const int64_t> input,
                                          std::span<const int64_t> weight);

/// Shape of a conv2d node's result, where it can be told from names and numbers; E0604.
Result<SymbolicShape> convolutionShape(const Node &node, const Node &input, const Node &weight,
                                       const Node &bias);

} // namespace nereid::definition
