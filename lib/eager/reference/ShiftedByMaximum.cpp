// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/ShiftedByMaximum.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Shape.h"

#include <algorithm>
#include <cmath>

namespace nereid::eager {

using definition::Node;

namespace {

const Node &inputOf(const definition::Operator &graph, const Node &node, size_t operand = 0) {
  return graph.nodes[static_cast<size_t>(node.inputs[operand])];
}

/// Roundings of a function and of the result's type, as a part of 1.
double aFewRoundings(const ErrorModel &model) {
  return 16 * definition::unitRoundoff(model.compute) +
         (model.storesEachOperation ? 2 * definition::unitRoundoff(model.storage) : 0);
}

/// Leaves an error no larger than the way to the ends between which the result lies. Where the
/// maximum is infinite and another number stands for it, it may lie elsewhere.
void narrow(Bounded &out, double low, double high) {
  if (out.value >= low && out.value <= high) {
    out.error = std::min(out.error, std::max(out.value - low, high - out.value));
  }
}

} // namespace

int shiftedByMaximum(const definition::Operator &graph, const Node &node) {
  if (node.op != "sub") {
    return -1;
  }
  const Node *subtracted = &graph.nodes[static_cast<size_t>(node.inputs[1])];
  if (subtracted->op == "where") {
    const Node &condition = inputOf(graph, *subtracted);
    const bool asksForIt =
        condition.op == "isfinite" && condition.inputs[0] == subtracted->inputs[1];
    if (!asksForIt) {
      return -1;
    }
    subtracted = &inputOf(graph, *subtracted, 1);
  }
  const bool isMaximum = subtracted->op == "amax" && subtracted->inputs[0] == node.inputs[0];
  return isMaximum ? node.inputs[0] : -1;
}

void boundShifted(const BoundedTensor &x, const BoundedTensor &maximum, BoundedTensor &shifted) {
  auto isExact = [](const BoundedTensor &tensor) {
    return std::all_of(tensor.elements.begin(), tensor.elements.end(),
                       [](const Bounded &each) { return each.error == 0; });
  };
  if (!isExact(x) || !isExact(maximum)) {
    return;
  }
  for (Bounded &out : shifted.elements) {
    if (std::isinf(out.error) && out.value < 0) {
      out.error = 0;
    }
  }
}

double highestShifted(const BoundedTensor &x, const ErrorModel &model) {
  constexpr double mostRoundings = 4, mostAbove = 64; // of which sums of exp are inside of float32
  double largest = 0;
  for (const Bounded &each : x.elements) {
    const double magnitude = std::fabs(each.value) + each.error;
    largest = std::isfinite(magnitude) ? std::max(largest, magnitude) : largest;
  }
  const double highest = mostRoundings * definition::unitRoundoff(model.compute) * largest;
  return highest <= mostAbove ? highest : NAN;
}

int exponentialOfShifted(const definition::Operator &graph, const Node &node) {
  const bool isOne = node.op == "exp" && shiftedByMaximum(graph, inputOf(graph, node)) >= 0;
  return isOne ? node.inputs[0] : -1;
}

int logarithmOfSum(const definition::Operator &graph, const Node &node) {
  const bool isOfSum = node.op == "log" && inputOf(graph, node).op == "sum";
  return isOfSum ? exponentialOfShifted(graph, inputOf(graph, inputOf(graph, node))) : -1;
}

int shareOfSum(const definition::Operator &graph, const Node &node) {
  if (node.op != "div") {
    return -1;
  }
  const Node &sum = inputOf(graph, node, 1);
  const bool isShare =
      sum.op == "sum" && definition::keepsDim(sum) && sum.inputs[0] == node.inputs[0];
  return isShare ? exponentialOfShifted(graph, inputOf(graph, node)) : -1;
}

void boundExponentials(const BoundedTensor &shifted, double highest, const ErrorModel &model,
                       BoundedTensor &exponentials) {
  const double most = std::exp(highest) * (1 + aFewRoundings(model));
  for (size_t i = 0; i < exponentials.elements.size(); ++i) {
    const Bounded &from = shifted.elements[i];
    if (std::isfinite(from.value) && std::isfinite(from.error)) {
      narrow(exponentials.elements[i], 0, most);
    }
  }
}

void boundLogarithms(const BoundedTensor &sums, double highest, const ErrorModel &model,
                     BoundedTensor &logarithms) {
  for (size_t i = 0; i < logarithms.elements.size(); ++i) {
    const Bounded &from = sums.elements[i]; // one of its terms is that of the maximum
    if (std::isfinite(from.value) && std::isfinite(from.error)) {
      const double rest = aFewRoundings(model), most = std::log(from.value + from.error);
      narrow(logarithms.elements[i], -highest - rest, most + rest * (1 + std::fabs(most)));
    }
  }
}

void boundShares(const BoundedTensor &exponentials, const BoundedTensor &sums,
                 const ErrorModel &model, BoundedTensor &shares) {
  const double most = 1 + aFewRoundings(model);
  const std::vector<int64_t> steps = definition::broadcastSteps(sums.sizes, shares.sizes);
  for (size_t i = 0; i < shares.elements.size(); ++i) {
    Bounded &out = shares.elements[i];
    const Bounded &from = exponentials.elements[i];
    if (out.error <= std::max(out.value, most - out.value) || !std::isfinite(out.value) ||
        !std::isfinite(from.error)) {
      continue;
    }
    auto rest = static_cast<int64_t>(i);
    int64_t at = 0;
    for (size_t d = shares.sizes.size(); d-- > 0; rest /= shares.sizes[d]) {
      at += rest % shares.sizes[d] * steps[d];
    }
    if (std::isfinite(sums.elements[static_cast<size_t>(at)].error)) {
      narrow(out, 0, most);
    }
  }
}

} // namespace nereid::eager
