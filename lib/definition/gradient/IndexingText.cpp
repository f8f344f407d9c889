// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/IndexingText.h"

#include "lib/definition/gradient/BodyText.h"
#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/indices/Indexing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::definition {
namespace {

bool isTrue(const Node &node, const std::string &name, bool otherwise) {
  auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : std::get<bool>(found->second);
}

size_t rankOf(const Node &node, const Operator &op, size_t operand) {
  return op.nodes[static_cast<size_t>(node.inputs[operand])].shape.size();
}

/// Dimensions before the first index.
size_t dimensionsBefore(const Node &node, const Operator &op) {
  return rankOf(node, op, 0) - static_cast<size_t>(-integerAttribute(node, "dim", -1));
}

std::vector<std::string> indicesOf(const Node &node, const std::vector<std::string> &operands) {
  std::vector<std::string> list;
  for (size_t number : indexOperands(node)) {
    list.push_back(operands[number]);
  }
  return list;
}

/// x[:, i, j], or x[..., i] where the rank is open.
std::string subscript(const std::string &table, const Node &node, const Operator &op,
                      const std::vector<std::string> &indices) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
  std::vector<std::string> items;
  if (!shape.empty() && shape[0].isRest()) {
    items.emplace_back("...");
  } else {
    items.assign(dimensionsBefore(node, op), ":");
  }
  items.insert(items.end(), indices.begin(), indices.end());
  return fmt::format("{}[{}]", table, fmt::join(items, ", "));
}

bool isSum(const Node &node) {
  return node.op == "scatter_add" || node.op == "index_add" ||
         (node.op == "index_put" && isTrue(node, "accumulate", false)) ||
         (node.op == "scatter_reduce" && stringAttribute(node, "reduce", "") == "sum" &&
          isTrue(node, "include_self", true));
}
bool isReplacement(const Node &node) {
  return node.op == "scatter" || (node.op == "index_put" && !isTrue(node, "accumulate", false));
}

/// The first index is an input whose range begins at 0 or above.
bool isNeverNegative(const Node &node, const Operator &op) {
  const auto number = static_cast<size_t>(node.inputs[1]);
  return number < op.parameters.size() && op.parameters[number].range &&
         op.parameters[number].range->low.find('-') == std::string::npos;
}

/// The gradient of a read's table.
std::optional<std::string> added(const Node &node, const Operator &op,
                                 const std::vector<std::string> &operands,
                                 const std::string &grad) {
  const std::string zeros = "torch.zeros_like(" + operands[0] + ")";
  const std::vector<std::string> indices = indicesOf(node, operands);
  const int64_t dim = integerAttribute(node, "dim", -1);
  if (node.op == "gather") {
    return fmt::format("torch.scatter_add({}, {}, {}, {})", zeros, dim, indices[0], grad);
  }
  const bool isOfList = indices.size() == 1 && rankOf(node, op, 1) == 1 &&
                        !op.nodes[static_cast<size_t>(node.inputs[1])].shape[0].isRest();
  const int64_t padding = integerAttribute(node, "padding_idx", -1);
  if (node.op == "embedding" && node.attributes.contains("padding_idx")) {
    return padding < 0 ? std::nullopt
                       : std::optional(fmt::format(
                             "torch.index_put({0}, ({1},), torch.where(torch.unsqueeze({1}, -1) "
                             "== {2}, 0.0, {3}), accumulate=True)",
                             zeros, indices[0], padding, grad));
  }
  const bool isBehind = node.op == "index" && dimensionsBefore(node, op) > 0;
  // index_add takes no negative indices: a range has to say that there are none.
  if (node.op == "index_select" || (isBehind && isOfList && isNeverNegative(node, op))) {
    return fmt::format("torch.index_add({}, {}, {}, {})", zeros, dim, indices[0], grad);
  }
  if (isBehind) {
    return std::nullopt;
  }
  return fmt::format("torch.index_put({}, {}, {}, accumulate=True)", zeros, tupleText(indices),
                     grad);
}

} // namespace

std::string indexingText(const Node &node, const Operator &op,
                         const std::vector<std::string> &operands) {
  const std::vector<std::string> indices = indicesOf(node, operands);
  if (node.op == "index") {
    return subscript(operands[0], node, op, indices);
  }
  if (node.op == "embedding") {
    auto padding = node.attributes.find("padding_idx");
    return fmt::format("F.embedding({}, {}{})", indices[0], operands[0],
                       padding == node.attributes.end()
                           ? ""
                           : fmt::format(", padding_idx={}", std::get<int64_t>(padding->second)));
  }
  if (node.op == "index_put") {
    return fmt::format("torch.index_put({}, {}, {}{})", operands[0], tupleText(indices),
                       operands.back(), isSum(node) ? ", accumulate=True" : "");
  }
  std::string text = fmt::format("torch.{}({}, {}, {}", node.op, operands[0],
                                 integerAttribute(node, "dim", -1), indices[0]);
  text += valueOperand(node) > 0 ? ", " + operands.back() : "";
  if (node.op == "scatter_reduce") {
    text += fmt::format(", reduce=\"{}\"", stringAttribute(node, "reduce", "sum"));
    text += isTrue(node, "include_self", true) ? "" : ", include_self=False";
  }
  return text + ")";
}

std::optional<std::string> indexingGradient(const Node &node, const Operator &op, size_t operand,
                                            const std::vector<std::string> &operands,
                                            const std::string &grad) {
  if (valueOperand(node) == 0) {
    return operand == 0 ? added(node, op, operands, grad) : std::nullopt;
  }
  if (!isSum(node) && !isReplacement(node)) {
    return std::nullopt;
  }
  const std::vector<std::string> indices = indicesOf(node, operands);
  const int64_t dim = integerAttribute(node, "dim", -1);
  if (operand == 0) {
    return isSum(node) ? grad
           : node.op == "scatter"
               ? fmt::format("torch.scatter({}, {}, {}, 0.0)", grad, dim, indices[0])
               : fmt::format("torch.index_put({}, {}, torch.zeros_like({}))", grad,
                             tupleText(indices), operands.back());
  }
  if (node.op == "index_put") {
    return subscript(grad, node, op, indices);
  }
  return fmt::format("torch.{}({}, {}, {})", node.op == "index_add" ? "index_select" : "gather",
                     grad, dim, indices[0]);
}

SymbolicShape gradientShape(const Node &node, const Operator &op, size_t operand) {
  const SymbolicShape &table = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
  if (operand == 0) {
    return table;
  }
  Node read = node; // has the shape of the points
  read.op = node.op == "index_put" ? "index" : node.op == "index_add" ? "index_select" : "gather";
  read.inputs.pop_back();
  const Result<SymbolicShape> points = inferShape(read, op.nodes);
  return points ? *points : table;
}

} // namespace nereid::definition
