// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/text/IndexingText.h"

#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/operations/indices/Indexing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::definition {

bool isTrue(const Node &node, const std::string &name, bool otherwise) {
  auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : std::get<bool>(found->second);
}

std::vector<std::string> indicesOf(const Node &node, const std::vector<std::string> &operands) {
  std::vector<std::string> list;
  for (size_t number : indexOperands(node)) {
    list.push_back(operands[number]);
  }
  return list;
}

std::string subscriptText(const std::string &table, const Node &node, const Operator &op,
                          const std::vector<std::string> &indices) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
  std::vector<std::string> items;
  if (!shape.empty() && shape[0].isRest()) {
    items.emplace_back("...");
  } else {
    items.assign(shape.size() - static_cast<size_t>(-integerAttribute(node, "dim", -1)), ":");
  }
  items.insert(items.end(), indices.begin(), indices.end());
  return fmt::format("{}[{}]", table, fmt::join(items, ", "));
}

std::string indexingText(const Node &node, const Operator &op,
                         const std::vector<std::string> &operands) {
  const std::vector<std::string> indices = indicesOf(node, operands);
  if (node.op == "index") {
    return subscriptText(operands[0], node, op, indices);
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
                       operands.back(),
                       isTrue(node, "accumulate", false) ? ", accumulate=True" : "");
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

} // namespace nereid::definition
