// SPDX-License-Identifier: Apache-2.0
// How a graph is worked through in blocks: which leading dimensions of its outputs can be cut, and
// which part of every input a block needs. A dimension can be cut when nothing reduces it.
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/tensor/Tensor.h"

#include <vector>

namespace nereid::eager {

struct Block {
  std::vector<int64_t> prefix; ///< one index of each axis but the last
  int64_t begin = 0, end = 0;  ///< of the last axis
};

/// Axis number i is dimension i of every output. A block has one index of each axis but the last,
/// a range of that one, and all of the outputs' later dimensions: a contiguous stretch of each.
struct BlockPlan {
  std::vector<int64_t> axes;               ///< their sizes; empty: one block with everything
  int64_t length = 1, perPrefix = 1;       ///< of the last axis: indices in a block, blocks
  int64_t count = 1;                       ///< blocks in all
  std::vector<std::vector<int>> inputAxes; ///< per parameter and dimension; -1 = not cut

  Block block(int64_t number) const;
  bool isCut(size_t parameter) const;
  /// The part of a parameter's tensor that a block needs.
  runtime::Tensor input(const runtime::Tensor &tensor, size_t parameter, const Block &block) const;
  /// The part of an output that a block makes, and its first element's number.
  runtime::Tensor output(const runtime::Tensor &tensor, const Block &block) const;
  int64_t firstElement(const std::vector<int64_t> &outputSizes, const Block &block) const;
};

/// `graph` has primitives only; `sizes` are those of every node.
BlockPlan planBlocks(const definition::Operator &graph,
                     const std::vector<std::vector<int64_t>> &sizes);

} // namespace nereid::eager
