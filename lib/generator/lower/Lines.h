// SPDX-License-Identifier: Apache-2.0
// Scans, sorted lines and positions of extrema as lazy tensors. A line is a stage of its own: what
// it computes is stored there, in temporaries that others read, or in outputs themselves:
//
//   positions[i, j] = pick(order(s, x[i, s]), 1, j)
//   values[i, j] = x[i, data(pick(order(s, x[i, s]), 1, j), N)]
#pragma once

#include "lib/definition/Graph.h"
#include "lib/generator/lower/Lazy.h"

#include <memory>

namespace nereid::generator {

/// A tensor that a line's stage can store.
struct LineResult {
  size_t stage = 0;
  Point point;                 ///< at which the stage stores
  const Node *value = nullptr; ///< there
  const Node *guard = nullptr; ///< of the first places of a line
};

struct LineTensor {
  Lazy tensor;
  std::shared_ptr<LineResult> result; ///< none: no line's own
};

class Lines {
public:
  Lines(Program &program, Tensors &make) : program(program), make(make) {}

  /// Where the largest (smallest) element over the dimensions is, in row-major order of these.
  Lazy searched(bool isLargest, const Lazy &x, const std::vector<size_t> &dims, bool keepsDims);
  /// `source`: the graph's node that x is, by whose number calls on one tensor share a line.
  LineTensor scanned(const std::string &op, const Lazy &x, int source, size_t dim);
  LineTensor sorted(const definition::Node &node, const Lazy &x, size_t dim);

private:
  struct Line {
    size_t stage = 0;
    Point point;
    const Node *node = nullptr;
    Lazy x; ///< what it runs over
  };
  using Key = std::pair<std::string, std::vector<int64_t>>;

  Line &scanLine(const std::string &monoid, const Lazy &x, int source, size_t dim);
  Line &orderLine(const Lazy &x, int source, size_t dim, bool isDescending);
  LineTensor stored(const Line &line, Shape shape, const Node *value, const Node *guard);
  LineTensor constant(const Lazy &x, const Shape &shape, bool isPosition) const;
  Lazy atPosition(const Lazy &x, size_t dim, const Lazy &positions, bool hasLine) const;
  Lazy plain(const Lazy &x);
  Point freshPoint(const Shape &shape);

  Program &program;
  Tensors &make;
  std::map<Key, Line> lines;
};

} // namespace nereid::generator
