// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/ZeroSigns.h"

#include "lib/definition/operations/indices/Movement.h"
#include "lib/eager/reference/KnownEnds.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace nereid::eager {

using definition::Node;

std::vector<bool> zeroSigns(const definition::Operator &graph) {
  static const std::set<std::string> defined = {"neg",  "abs",    "floor",   "ceil",     "round",
                                                "add",  "trunc",  "sub",     "mul",      "div",
                                                "sqrt", "square", "permute", "unsqueeze"};
  static const std::set<std::string> reading = {"gather", "index_select", "index", "embedding"};
  std::vector<bool> signs;
  auto all = [&](const std::vector<int> &inputs) {
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](int input) { return signs[static_cast<size_t>(input)]; });
  };
  for (const Node &node : graph.nodes) {
    const std::vector<int> &in = node.inputs;
    const bool isGiven = signs.size() < graph.parameters.size() || node.op == "constant";
    signs.push_back(isGiven || (definition::isMovement(node) && all(in)) ||
                    ((defined.contains(node.op) || definition::isCast(node)) && all(in)) ||
                    (node.op == "where" && all({in[1], in[2]})) ||
                    (reading.contains(node.op) && all({in[0]})) ||
                    (node.op == "masked_fill" && all({in[0], in[2]})));
  }
  return signs;
}

bool readsZeroSign(const Node &node, size_t operand) {
  static const std::map<std::string, std::set<size_t>> reading = {
      {"div", {1}},      {"reciprocal", {0}}, {"rsqrt", {0}},   {"pow", {0}},
      {"atan2", {0, 1}}, {"copysign", {1}},   {"addcdiv", {2}}, {"floor_divide", {1}}};
  const auto found = reading.find(node.op);
  return found != reading.end() && found->second.contains(operand);
}

std::optional<BoundedTensor> withOpenZeros(const definition::Operator &graph, int node,
                                           const BoundedTensor &values) {
  const auto isZero = [](const Bounded &each) { return each.value == 0 && each.error == 0; };
  if (std::none_of(values.elements.begin(), values.elements.end(), isZero) ||
      hasPositiveZeros(graph, node) || zeroSigns(graph)[static_cast<size_t>(node)]) {
    return std::nullopt;
  }
  BoundedTensor open;
  open.sizes = values.sizes;
  open.elements = values.elements;
  for (Bounded &each : open.elements) {
    each = isZero(each) ? eitherZero : each;
  }
  return open;
}

} // namespace nereid::eager
