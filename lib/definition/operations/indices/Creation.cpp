// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/indices/Creation.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/SizeAlgebra.h"

namespace nereid::definition {

bool isCreation(const Node &node) { return node.op == "arange" || node.op == "full"; }

Node creationNode(const std::string &op, const SymbolicShape &shape, const std::string &dtype) {
  Node node;
  node.op = op;
  node.shape = shape;
  const std::string entries = text(shape);
  node.attributes["shape"] = entries.substr(1, entries.size() - 2);
  node.attributes["dtype"] = dtype;
  return node;
}

SymbolicShape createdShape(const Node &node) {
  SymbolicShape shape;
  const Attribute &given = node.attributes.at("shape");
  if (const auto *numbers = std::get_if<std::vector<int64_t>>(&given)) {
    for (int64_t number : *numbers) {
      shape.push_back({"", number});
    }
    return shape;
  }
  if (const auto *number = std::get_if<int64_t>(&given)) {
    return {{"", *number}};
  }
  std::string entry;
  int depth = 0;
  auto add = [&] {
    const size_t first = entry.find_first_not_of(' ');
    if (first != std::string::npos) {
      entry.erase(0, first);
      shape.push_back(entry == "..." ? Dim{"...", 0}
                                     : sizePolynomial(entry).value_or(SizePolynomial(0)).dim());
    }
    entry.clear();
  };
  for (char c : std::get<std::string>(given)) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      add();
    } else {
      entry += c;
    }
  }
  add();
  return shape;
}

DType createdDtype(const Node &node, DType operatorType) {
  const std::string name = stringAttribute(node, "dtype", "default");
  if (name == "operator") {
    return operatorType;
  }
  if (name == "default") {
    return operatorType == DType::F64 ? DType::F64 : DType::F32;
  }
  return parseDType(name).value_or(DType::F32);
}

Status bindCreation(Node &node, const Binding &binding) {
  auto sizes = bind(createdShape(node), binding);
  if (!sizes) {
    return sizes.error();
  }
  node.attributes["shape"] = std::move(*sizes);
  return Done{};
}

void bindCreatedDtype(Node &node, DType operatorType) {
  node.attributes["dtype"] = std::string(torchName(createdDtype(node, operatorType)));
}

} // namespace nereid::definition
