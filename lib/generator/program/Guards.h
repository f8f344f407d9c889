// SPDX-License-Identifier: Apache-2.0
// What the conditions around a value say of its index expressions: inside of the first branch of a
// `where` its condition holds, inside of the second it does not.
#pragma once

#include "lib/generator/index/Node.h"

namespace nereid::generator {

class Guards {
public:
  explicit Guards(const IndexSpace &space) : space(space) {}

  /// Adds what follows from `condition` (holds: true or false): comparisons of index expressions
  /// with each other, and what `logical_and`, `logical_or` and `logical_not` make of them. Others
  /// say nothing here.
  void add(const Node *condition, bool holds);
  /// What they say of other iterators than these.
  Guards apartFrom(const std::vector<IteratorId> &iterators) const;
  /// True when bounds, or bounds and at most two of the conditions, prove value ≥ 0. A quotient in
  /// it is taken apart: e // n + r ≥ 0 if and only if e + n·r ≥ 0.
  bool proveNonNegative(const Affine &value) const;
  /// Polynomials that value does not exceed: its upper end, and where a condition puts one.
  std::vector<Polynomial> upperEnds(const Affine &value) const;
  /// 0 ≤ value < size.
  bool proveInside(const Affine &value, const Polynomial &size) const;

private:
  bool proveByConditions(const Affine &value, int conditionsAtMost) const;

  const IndexSpace &space;
  std::vector<Affine> nonNegative;
};

/// A comparison of two index expressions: `name` (lt, ge, eq or ne) of their difference and 0.
struct Comparison {
  std::string name;
  Affine difference;
};
/// Nothing when the operation is no comparison, or compares something else.
std::optional<Comparison> comparisonOf(const NodeParts &parts);
/// Its truth, when bounds decide it.
std::optional<bool> truthByBounds(const Comparison &comparison, const IndexSpace &space);

} // namespace nereid::generator
