// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/KnownEnds.h"

#include "lib/definition/operations/Shape.h"
#include "lib/eager/reference/ReferenceCast.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace nereid::eager {
namespace {

class EndFinder {
public:
  EndFinder(const definition::Operator &graph, const std::vector<DType> &types)
      : graph(graph), types(types) {}

  Ends of(int number) const {
    const definition::Node &node = graph.nodes[static_cast<size_t>(number)];
    if (node.op == "clamp") {
      return clamped(of(node.inputs[0]), number);
    }
    if (node.op == "where") {
      return joined(number, node.inputs[1], node.inputs[2]);
    }
    if (node.op == "masked_fill") {
      return joined(number, node.inputs[0], node.inputs[2]);
    }
    static const std::set<std::string> roundings = {"round", "floor", "ceil", "trunc"};
    static const std::set<std::string> rearrangements = {"permute", "reshape", "unsqueeze",
                                                         "squeeze", "narrow",  "expand"};
    if (roundings.count(node.op) != 0) {
      const Ends ends = of(node.inputs[0]);
      return {std::floor(ends.low), std::ceil(ends.high)};
    }
    return rearrangements.count(node.op) != 0 ? of(node.inputs[0]) : Ends();
  }

private:
  /// Of the result of `user`: a number that its type has, NaN of anything else.
  double numberOf(int number, int user) const {
    const definition::Node &node = graph.nodes[static_cast<size_t>(number)];
    const double value = node.op == "constant" ? definition::constantValue(node) : NAN;
    return nearestOf(types[static_cast<size_t>(user)], value) == value ? value : NAN;
  }

  /// A bound that is not known may be anything.
  Ends clamped(Ends ends, int number) const {
    const definition::Node &node = graph.nodes[static_cast<size_t>(number)];
    const double low = numberOf(node.inputs[1], number), high = numberOf(node.inputs[2], number);
    ends = std::isnan(low) ? Ends{ends.low, Ends().high}
                           : Ends{std::max(ends.low, low), std::max(ends.high, low)};
    return std::isnan(high) ? Ends{Ends().low, ends.high}
                            : Ends{std::min(ends.low, high), std::min(ends.high, high)};
  }

  Ends joined(int user, int left, int right) const {
    Ends both{Ends().high, Ends().low};
    for (int side : {left, right}) {
      const double value = numberOf(side, user);
      const Ends ends = std::isnan(value) ? of(side) : Ends{value, value};
      both = {std::min(both.low, ends.low), std::max(both.high, ends.high)};
    }
    return both;
  }

  const definition::Operator &graph;
  const std::vector<DType> &types;
};

} // namespace

Ends knownEnds(const definition::Operator &graph, int node, const std::vector<DType> &types) {
  return EndFinder(graph, types).of(node);
}

/// Values are shared, so that paths are many: only so many steps are looked back.
constexpr int mostSteps = 8;

/// `orZero`: zeros may be of either sign.
static bool isNeverNegative(const definition::Operator &graph, int number, bool orZero, int steps) {
  static const std::set<std::string> always = {"square",  "abs",      "exp", "exp2",
                                               "sigmoid", "softplus", "var", "std"};
  static const std::set<std::string> keeping = {
      "sum",     "mean",   "amax",   "amin", "cumsum", "permute", "reshape", "unsqueeze",
      "squeeze", "narrow", "expand", "sqrt", "add",    "mul",     "div",     "minimum"};
  const definition::Node &node = graph.nodes[static_cast<size_t>(number)];
  const auto is = [&](int input) {
    return steps > 0 && isNeverNegative(graph, input, orZero, steps - 1);
  };
  if (node.op == "constant") {
    return definition::constantValue(node) >= 0;
  }
  if (always.contains(node.op)) {
    return true;
  }
  if (node.op == "relu") {
    return orZero;
  }
  if (node.op == "mul" && node.inputs[0] == node.inputs[1]) {
    return true;
  }
  if (node.op == "maximum") {
    return orZero ? is(node.inputs[0]) || is(node.inputs[1])
                  : is(node.inputs[0]) && is(node.inputs[1]);
  }
  return keeping.contains(node.op) && std::all_of(node.inputs.begin(), node.inputs.end(), is);
}

bool isNeverNegative(const definition::Operator &graph, int node) {
  return isNeverNegative(graph, node, true, mostSteps);
}

bool hasPositiveZeros(const definition::Operator &graph, int node) {
  return isNeverNegative(graph, node, false, mostSteps);
}

} // namespace nereid::eager
