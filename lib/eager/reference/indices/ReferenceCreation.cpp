// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/indices/ReferenceCreation.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Creation.h"
#include "runtime/elements/IntegerElements.h"

#include <fmt/format.h>

namespace nereid::eager {
namespace {

using definition::Node;
using runtime::Tensor;

bool isWhole(DType type) { return !isFloat(type) && type != DType::Bool; }

/// The number `full` has everywhere: of the body, or one of the inputs.
double numberOf(const Node &node, const definition::Operator &graph,
                const std::vector<Tensor> &inputs) {
  const auto from = static_cast<size_t>(node.inputs[0]);
  const Node &number = graph.nodes[from];
  return number.op == "constant" ? definition::constantValue(number) : inputs[from].at(0);
}

Result<Tensor> created(const Node &node, const definition::Operator &graph,
                       const std::vector<Tensor> &inputs, DType type) {
  const std::vector<int64_t> sizes =
      *definition::bind(definition::createdShape(node), definition::Binding());
  Tensor out = Tensor::empty(sizes, type);
  const int64_t count = definition::elementCountOf(sizes).value_or(-1);
  if (count < 0 || !out.isValid()) {
    return makeError("E0506", fmt::format("no memory for '{}' of shape {}", node.op,
                                          definition::sizesText(sizes)))
        .withHelp("use smaller shapes, or a machine with more memory");
  }
  if (node.op == "arange") {
    for (int64_t i = 0; i < count; ++i) {
      runtime::storeInteger(out, i, static_cast<uint64_t>(i));
    }
    return out;
  }
  const Node &number = graph.nodes[static_cast<size_t>(node.inputs[0])];
  const double value = numberOf(node, graph, inputs);
  const bool isExact = isWhole(type) && number.op == "constant";
  for (int64_t i = 0; i < count; ++i) {
    if (isExact) {
      runtime::storeInteger(out, i,
                            static_cast<uint64_t>(definition::integerAttribute(
                                number, "integer", static_cast<int64_t>(value))));
    } else {
      out.set(i, type == DType::Bool ? (value != 0 ? 1 : 0) : value);
    }
  }
  return out;
}

} // namespace

Status giveCreated(definition::Operator &graph, std::vector<Tensor> &inputs, DType dtype) {
  const size_t parameters = graph.parameters.size();
  std::vector<Node> leaves, others;
  std::vector<int> renumbered(graph.nodes.size(), -1);
  for (size_t i = parameters; i < graph.nodes.size(); ++i) {
    if (!definition::isCreation(graph.nodes[i])) {
      continue;
    }
    const Node &node = graph.nodes[i];
    const DType type = definition::createdDtype(node, dtype);
    auto tensor = created(node, graph, inputs, type);
    if (!tensor) {
      return tensor.error();
    }
    renumbered[i] = static_cast<int>(parameters + leaves.size());
    Node leaf;
    leaf.op = "input";
    leaf.shape = node.shape;
    leaf.name = fmt::format("{}_{}", node.op, i);
    definition::Parameter parameter;
    parameter.name = leaf.name;
    parameter.shape = node.shape;
    parameter.fixedDtype = type;
    leaves.push_back(std::move(leaf));
    graph.parameters.push_back(std::move(parameter));
    inputs.push_back(std::move(*tensor));
  }
  if (leaves.empty()) {
    return Done{};
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (i < parameters) {
      renumbered[i] = static_cast<int>(i);
    } else if (renumbered[i] < 0) {
      renumbered[i] = static_cast<int>(parameters + leaves.size() + others.size());
      others.push_back(graph.nodes[i]);
    }
  }
  graph.nodes.resize(parameters);
  graph.nodes.insert(graph.nodes.end(), leaves.begin(), leaves.end());
  graph.nodes.insert(graph.nodes.end(), others.begin(), others.end());
  for (Node &node : graph.nodes) {
    for (int &input : node.inputs) {
      input = renumbered[static_cast<size_t>(input)];
    }
  }
  for (int &output : graph.outputs) {
    output = renumbered[static_cast<size_t>(output)];
  }
  return Done{};
}

} // namespace nereid::eager
