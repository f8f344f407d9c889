// SPDX-License-Identifier: Apache-2.0
// Movements: operations of kind View whose result is elements of their operands at computed places.
// Each dimension of the source is read at an index made of the result's indices, or beyond its
// edge. Slices, squeeze, expand, pad and windows are such lists of indices; reshape keeps the order
// of elements, cat puts tensors one behind another. Dimensions are negative, so that "..." may
// lead.
//
//   narrow   dim, start, length, step    the element at start + step · i
//   squeeze  dim (list)                  dimensions of size 1 go
//   expand   shape                       -1 keeps a dimension, others repeat one of size 1 or none
//   reshape  last, shape                 the last so many dimensions become these
//   pad      dim, before, after, mode, value
//   unfold   dim, size, step, dilation   windows; the places in them are the last dimension
//   tril, triu  diagonal                 0 beyond it, above or below
//   _resample   dim, length, start, step, divisor, places, least
//                                        the element at (start + step · i) // divisor, the first or
//                                        the last one beyond the ends, and none in front of `least`
//                                        where there are so many; with places so many from there
//                                        on, which are the last dimension
//   _spread     dim, length, step, dilation, before
//                                        windows back to where they came from: what stood at place
//                                        k (the last dimension) of window o lies at place k of o ·
//                                        step + k · dilation - before, and 0 everywhere else
//   _positions  length                   0, 1, 2 and so on: of the operand nothing is read
//   cat      dim                         of any number of operands
//
// No body can write a name that begins with _.
// start, length, before, after, step, divisor and places of _resample and the entries of a shape
// are integers, or texts over symbols until withSizes makes them integers.
#pragma once

#include "lib/definition/operations/SizeAlgebra.h"

#include <limits>
#include <span>

namespace nereid::definition {

/// A View that is not just an order of dimensions (View.h).
bool isMovement(const Node &node);
/// tril or triu.
bool isTriangle(const Node &node);
/// It takes memory and time in PyTorch: what it moves is stored anew.
bool copiesElements(const Node &node);

SizePolynomial sizeAttribute(const Node &node, const std::string &name);
/// The entries of a "shape".
std::vector<SizePolynomial> shapeAttribute(const Node &node);
/// Sizes with commas between them.
std::vector<SizePolynomial> sizeList(const std::string &text);
void setSize(Node &node, const std::string &name, const SizePolynomial &value);
void setShape(Node &node, const std::vector<SizePolynomial> &shape);
/// Those attributes as numbers.
Status bindMovement(Node &node, const Binding &binding);

/// E0604 when the operands' shapes do not fit.
Result<SymbolicShape> movementShape(const Node &node, const std::vector<Node> &nodes);

/// Per dimension of the result: the one of the (first) operand that it is, untouched, or
/// newDimension.
std::vector<size_t> keptDimensions(const Node &node, size_t rank);

/// What is read beyond the ends of a dimension: nothing lies there, a constant, the elements
/// mirrored at the last one, the last one, or those of the other end.
enum class Edge { Inside, Constant, Reflect, Replicate, Circular };

struct SourceDim {
  int64_t size = 0, start = 0;
  std::vector<std::pair<size_t, int64_t>> steps; ///< dimension of the result, step
  Edge edge = Edge::Inside;
  int64_t divisor = 1;      ///< of the sum of start and steps, rounded down
  bool isDivisible = false; ///< where it leaves a rest there is the constant
  int64_t least = 0;        ///< of Replicate: what stands for all in front of it
  /// The index in the source; -1: beyond its edge, where the constant is.
  int64_t at(std::span<const int64_t> index) const;
};

struct Movement {
  std::vector<int64_t> sizes; ///< of the result
  std::vector<SourceDim> from;
  static constexpr int64_t outside = std::numeric_limits<int64_t>::min();
  /// Number of the element in a source of these strides; `outside` for the constant.
  int64_t source(std::span<const int64_t> index, std::span<const int64_t> strides) const;
};

/// Of all that read one element for each, not of reshape, cat, triangles and positions; attributes
/// are numbers. E0604 when an index would leave the source.
Result<Movement> movementOf(const Node &node, std::span<const int64_t> input);
/// Of all movements.
Result<std::vector<int64_t>> movedSizes(const Node &node,
                                        const std::vector<std::vector<int64_t>> &inputs);

} // namespace nereid::definition
