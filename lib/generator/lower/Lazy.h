// SPDX-License-Identifier: Apache-2.0
// Tensors that are not there: a shape, and the value at an index as a node. Views compose index
// expressions and leave no trace; whatever computes makes nodes. Lowering an operator's graph is
// calling these.
//
//   Tensors make(program);
//   Lazy x = make.input(buffer);                  // [N, M]
//   Lazy y = make.reduce("sum", make.permute(x, {1, 0}), {1}, true);
//   y.at({i, 0});                                 // sum[r](x[r, i])
#pragma once

#include "lib/generator/program/Program.h"

#include <concepts>

namespace nereid::generator {

using Shape = std::vector<Polynomial>;
using Point = std::vector<Affine>;

/// The value at an index. Copies are one function: it holds those of its operands, and a copy of
/// each would hold copies of theirs, as many as there are ways to them through the graph.
class ValueAt {
public:
  using Function = std::function<const Node *(const Point &)>;
  ValueAt() = default;
  template <std::convertible_to<Function> F>
    requires(!std::same_as<std::remove_cvref_t<F>, ValueAt>)
  ValueAt(F function) : shared(std::make_shared<const Function>(std::move(function))) {}

  const Node *operator()(const Point &point) const { return (*shared)(point); }
  explicit operator bool() const { return shared != nullptr; }

private:
  std::shared_ptr<const Function> shared;
};

struct Lazy {
  Shape shape;
  DType dtype = DType::F32;
  ValueAt at; ///< the same node for the same index
};

/// Shapes have been inferred and checked before: callers pass dimensions that exist, sizes that
/// fit.
class Tensors {
public:
  explicit Tensors(Program &program) : program(program) {}

  /// Any function of an index, asked once for each.
  Lazy make(Shape shape, DType dtype, std::function<const Node *(const Point &)> at) const;
  Lazy input(BufferId buffer) const;
  Lazy constant(const Node *value) const;

  Lazy permute(const Lazy &x, std::vector<size_t> order) const;
  /// `shape` has x's dimensions last; those of x that are 1 repeat.
  Lazy expand(const Lazy &x, Shape shape) const;
  /// As many elements, in the same order.
  Lazy reshape(const Lazy &x, Shape shape) const;
  /// `count` elements from `start`, every `step`th.
  Lazy slice(const Lazy &x, size_t dim, const Polynomial &start, const Polynomial &count,
             const Polynomial &step) const;
  Lazy flip(const Lazy &x, size_t dim) const;
  Lazy insertDim(const Lazy &x, size_t dim) const;
  /// A dimension of size 1 goes.
  Lazy dropDim(const Lazy &x, size_t dim) const;
  Lazy pad(const Lazy &x, size_t dim, const Polynomial &before, const Polynomial &after,
           const Node *value) const;
  Lazy cat(const std::vector<Lazy> &parts, size_t dim) const;
  /// `dim` becomes `count` windows, and a last dimension the `size` positions in them.
  Lazy windows(const Lazy &x, size_t dim, const Polynomial &size, const Polynomial &step,
               const Polynomial &dilation, const Polynomial &count) const;

  /// Operands are broadcast; their types fit, see Types.h.
  Lazy map(const std::string &name, std::vector<Lazy> operands) const;
  Lazy cast(const Lazy &x, DType dtype) const;
  /// Over `dims`, ascending; a dimension of size 1 stays in its place where `keepsDims`.
  Lazy reduce(const std::string &monoid, const Lazy &x, const std::vector<size_t> &dims,
              bool keepsDims) const;
  Lazy scan(const std::string &monoid, const Lazy &x, size_t dim, bool isReverse) const;

  /// A stage that stores tensors of one shape, each to all of a buffer.
  void store(const std::string &stage, const std::vector<std::pair<BufferId, Lazy>> &results) const;

private:
  const Node *compare(const std::string &name, const Affine &a, const Affine &b) const;

  Program &program;
};

/// The shape operands have together; each of their sizes is that size or 1.
Shape broadcast(const std::vector<Lazy> &operands);

} // namespace nereid::generator
