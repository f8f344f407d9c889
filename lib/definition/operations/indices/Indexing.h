// SPDX-License-Identifier: Apache-2.0
// Operations that read or write at indices from tensors. All of them walk over points: each point
// has an element of the table that it reads or writes, whose index is in some dimensions the
// point's own and in others what an index tensor says.
//
//   gather(x, 1, index)            points [i, j] of index     x[i, index[i, j]]
//   index_select(x, 1, index)      [i, k, j]                  x[i, index[k], j]
//   x[rows, columns]               the indices broadcast      x[rows[p], columns[p]]
//   scatter_add(x, 0, index, src)  points [i, j] of index     x[index[i, j], j] += src[i, j]
//
// Reads return a value for each point, writes a copy of the table. Read by shape inference,
// reference, baseline and lowering.
#pragma once

#include "lib/definition/operations/Operations.h"

#include <span>

namespace nereid::definition {

/// What a write makes of the values that meet in one element.
enum class Meeting : uint8_t { Replace, Sum, Product, Maximum, Minimum, Mean };

struct Indexing {
  bool isWrite = false;
  Meeting meeting = Meeting::Replace;
  bool includesTable = true; ///< the table's own value takes part in the meeting
  size_t rank = 0;           ///< of the points
  /// Of each dimension of the table: the number of an index operand, or the point's dimension.
  struct Place {
    bool isIndexed = false;
    size_t number = 0;
  };
  std::vector<Place> places;
  /// Operands of the node: which ones are indices, the first of the points' dimensions that each
  /// has, and the values of a write (their dimensions are the points' last ones).
  std::vector<size_t> indices, firstDims;
  size_t values = 0;
};

/// `ranks`: of the node's operands. Dimensions are those of a concrete tensor, or of a symbolic
/// shape with "..." as one.
Indexing indexingOf(const Node &node, std::span<const size_t> ranks);
/// Operands that are indices: operand 1, or several of `index` and `index_put`.
std::vector<size_t> indexOperands(const Node &node);
/// Whether negative indices count from the end, as PyTorch has it of brackets and index_put alone.
bool takesNegative(const Node &node);
/// Whether a read of a dimension without elements is 0, for readers that choose another value where
/// there are none: "empty_is_zero", which bodies cannot write.
bool readsNothingAsZero(const Node &node);
/// The values that a write puts down; 0 of a read.
size_t valueOperand(const Node &node);

/// Floats meet in whatever order programs come, so that two runs may differ in their last bits.
bool addsInAnyOrder(const Operator &op, DType dtype);

/// E0604 when shapes do not fit, E0608 when a dimension is not there.
Result<SymbolicShape> indexingShape(const Node &node, const std::vector<Node> &nodes);
/// E0608 for types that PyTorch refuses.
Status checkIndexing(const Node &node, const std::vector<Node> &nodes,
                     const std::vector<DType> &types);

} // namespace nereid::definition
