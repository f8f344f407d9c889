// SPDX-License-Identifier: Apache-2.0
// Gradients of what selects elements of a line: they go where the elements were.
#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/operations/indices/Along.h"

#include <fmt/format.h>

namespace nereid::definition {

bool selectsElements(const Node &node) {
  return findOperation(node.op)->kind == OperationKind::Sort || isSelection(node) ||
         node.op == "cummax" || node.op == "cummin";
}

/// The operation that says where.
static std::string whereOf(const Node &node) {
  const std::string name = isSelection(node) ? (node.op == "amax" ? "max" : "min") : node.op;
  return findPair(name)->indices;
}

std::optional<Share> selectionGradient(GradientBody &body, const GradientOf &of) {
  const std::optional<int64_t> dim = dimAlong(of.node);
  if (!dim) {
    return std::nullopt;
  }
  Node places = of.node;
  places.op = whereOf(of.node);
  std::string at = body.valueOf(places, "places"), grad = of.grad.text;
  const bool isGone = body.shapeOf(of.number).size() < body.shapeOf(of.input()).size();
  if (isGone) {
    at = body.once("places", fmt::format("torch.unsqueeze({}, {})", at, *dim));
    grad = body.named("grad", fmt::format("torch.unsqueeze({}, {})", grad, *dim));
  }
  // Several results of a running maximum come from one element.
  const bool isRunning = of.node.op == "cummax" || of.node.op == "cummin";
  const std::string zeros =
      body.once("zeros", fmt::format("torch.zeros_like({})", body.value(of.input())));
  return Share{
      body.named("grad", fmt::format("torch.{}({}, {}, {}, {})",
                                     isRunning ? "scatter_add" : "scatter", zeros, *dim, at, grad)),
      body.shapeOf(of.input())};
}

} // namespace nereid::definition
