// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/EqualExtremum.h"

#include "lib/definition/operations/Shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

using definition::Node;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of the elements of a row, with the sign that makes its extremum the largest one.
struct Row {
  double lowest = -infinity;                      ///< that the extremum is, for certain
  double highest = -infinity, second = -infinity; ///< of the upper ends
  bool isKnown = true;

  void take(double low, double high) {
    isKnown = isKnown && std::isfinite(low) && std::isfinite(high);
    lowest = std::max(lowest, low);
    second = high > highest ? highest : std::max(second, high);
    highest = std::max(highest, high);
  }
};

} // namespace

bool equalsExtremum(const definition::Operator &graph, const Node &node) {
  if (node.op != "eq") {
    return false;
  }
  const Node &other = graph.nodes[static_cast<size_t>(node.inputs[1])];
  return (other.op == "amax" || other.op == "amin") && definition::keepsDim(other) &&
         other.inputs[0] == node.inputs[0];
}

void boundEqual(const definition::Operator &graph, const Node &node, const BoundedTensor &x,
                const BoundedTensor &extremum, BoundedTensor &equal) {
  const bool isLargest = graph.nodes[static_cast<size_t>(node.inputs[1])].op == "amax";
  const std::vector<int64_t> steps = definition::broadcastSteps(extremum.sizes, x.sizes);
  const auto rowOf = [&](size_t element) {
    auto rest = static_cast<int64_t>(element);
    int64_t row = 0;
    for (size_t d = x.sizes.size(); d-- > 0; rest /= x.sizes[d]) {
      row += rest % x.sizes[d] * steps[d];
    }
    return static_cast<size_t>(row);
  };
  const auto highOf = [&](const Bounded &each) {
    return (isLargest ? each.value : -each.value) + each.error;
  };
  std::vector<Row> rows(extremum.elements.size());
  for (size_t i = 0; i < x.elements.size(); ++i) {
    const Bounded &each = x.elements[i];
    rows[rowOf(i)].take(highOf(each) - 2 * each.error, highOf(each));
  }
  for (size_t i = 0; i < x.elements.size(); ++i) {
    const Row &row = rows[rowOf(i)];
    const double high = highOf(x.elements[i]);
    const bool isBelow = high < row.lowest;
    const bool isAlone = high == row.highest && row.second < row.lowest;
    if (row.isKnown && (isBelow || isAlone)) {
      equal.elements[i] = {isBelow ? 0.0 : 1.0, 0};
    }
  }
}

} // namespace nereid::eager
