// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/text/BodyText.h"

#include "lib/definition/gradient/text/IndexingText.h"
#include "lib/definition/gradient/text/MovementText.h"
#include "lib/definition/operations/LeadingSum.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/View.h"
#include "lib/definition/operations/indices/Along.h"
#include "lib/definition/operations/indices/Movement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

namespace nereid::definition {
namespace {

bool isOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string dimsText(const std::vector<int64_t> &dims) {
  std::vector<std::string> entries;
  for (int64_t dim : dims) {
    entries.push_back(std::to_string(dim));
  }
  return tupleText(entries);
}

/// The argument as the node has it; "" where it is left out.
std::string attributeText(const Argument &argument, const Node &node, const Operator &op) {
  if (argument.type == ArgumentType::TrailingShape) {
    const SymbolicShape &shape = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
    std::vector<std::string> entries;
    for (int64_t dim : dimsOf(node)) {
      const Dim &size = *(shape.end() + dim);
      entries.push_back(size.symbol.empty() ? std::to_string(size.constant) : size.symbol);
    }
    return tupleText(entries);
  }
  auto found = node.attributes.find(argument.name);
  if (found == node.attributes.end()) {
    return "";
  }
  const Attribute &value = found->second;
  if (const auto *flag = std::get_if<bool>(&value)) {
    const bool isDefault = argument.hasDefault && *flag == (argument.defaultText == "True");
    return isDefault ? "" : fmt::format("{}={}", argument.name, *flag ? "True" : "False");
  }
  if (const auto *dims = std::get_if<std::vector<int64_t>>(&value)) {
    if (takesOneDim(node) && dims->size() == 1) {
      return fmt::format("{}={}", argument.name, dims->front());
    }
    return argument.name + "=" + dimsText(*dims);
  }
  if (const auto *word = std::get_if<std::string>(&value)) {
    return fmt::format("{}=\"{}\"", argument.name, *word);
  }
  return fmt::format("{}={}", argument.name, std::get<int64_t>(value));
}

/// Of a function that returns two tensors: its name, and which of them the node is.
std::pair<std::string, std::string> functionAndPart(const Node &node) {
  if (isSelection(node)) {
    return {node.op == "amax" ? "max" : "min", ".values"};
  }
  if (node.op.ends_with("_indices")) {
    return {findPairOfIndices(node.op)->name, ".indices"};
  }
  const OperationPair *pair = findPair(node.op);
  return {node.op, pair && pair->values == node.op ? ".values" : ""};
}

/// x.to(torch.int8); to the operator's type by the first input that has it.
std::string castText(const Node &node, const Operator &op, const std::string &operand) {
  const std::string type = node.op.substr(std::string("to_").size());
  for (const Parameter &parameter : op.parameters) {
    if (type == "own" && !parameter.isScalar && !parameter.fixedDtype) {
      return fmt::format("{}.to({}.dtype)", operand, parameter.name);
    }
  }
  return fmt::format("{}.to(torch.{})", operand, type);
}

} // namespace

bool takesOneDim(const Node &node) {
  return isAlong(node) || isSelection(node) || node.op == "softmax" || node.op == "log_softmax" ||
         node.op == "prod";
}

bool isSelection(const Node &node) {
  return stringAttribute(node, "corner", "") == "selection" &&
         (node.op == "amax" || node.op == "amin");
}

std::string tupleText(const std::vector<std::string> &entries) {
  return fmt::format("({}{})", fmt::join(entries, ", "), entries.size() == 1 ? "," : "");
}

std::string numberText(const Node &node) {
  if (node.op == "scalar") {
    return node.name;
  }
  const std::string text = sizeText(node);
  const bool isAtom = text.find_first_of("+*/% ") == std::string::npos && text.front() != '-';
  return isAtom ? text : "(" + text + ")";
}

namespace {

/// Calls `each` with every name and what stands between: whether it is a name that something else
/// could stand for, no attribute and no name of an argument.
template <class Each> void walkNames(const std::string &text, const Each &each) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isOfName(text[end])) {
      ++end;
    }
    if (end == at) {
      each(text.substr(at++, 1), false);
      continue;
    }
    const bool isMember = at > 0 && text[at - 1] == '.';
    const bool isKeyword =
        end < text.size() && text[end] == '=' && (end + 1 == text.size() || text[end + 1] != '=');
    const bool isNumber = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    each(text.substr(at, end - at), !isMember && !isKeyword && !isNumber);
    at = end;
  }
}

} // namespace

std::string withNames(const std::string &text, const std::map<std::string, std::string> &names) {
  std::string result;
  walkNames(text, [&](const std::string &part, bool isName) {
    auto found = isName ? names.find(part) : names.end();
    result += found == names.end() ? part : found->second;
  });
  return result;
}

std::set<std::string> namesIn(const std::string &text) {
  std::set<std::string> names;
  walkNames(text, [&](const std::string &part, bool isName) {
    if (isName) {
      names.insert(part);
    }
  });
  return names;
}

std::string expressionText(const Node &node, const Operator &op,
                           const std::vector<std::string> &operands) {
  static const std::map<std::string, std::string> signs = {
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"pow", "**"}, {"eq", "=="},
      {"ne", "!="}, {"lt", "<"},  {"le", "<="}, {"gt", ">"},  {"ge", ">="}};
  if (auto sign = signs.find(node.op); sign != signs.end()) {
    return fmt::format("{} {} {}", operands[0], sign->second, operands[1]);
  }
  if (node.op == "neg") {
    return "-" + operands[0];
  }
  if (isCast(node)) {
    return castText(node, op, operands[0]);
  }
  if (findOperation(node.op)->kind == OperationKind::Indexing) {
    return indexingText(node, op, operands);
  }
  if (isMovement(node)) {
    return movementText(node, op, operands);
  }
  if (keptOfLeading(node)) {
    const std::string sizes = text(node.shape);
    return fmt::format("{}.sum_to_size({})", operands[0], sizes.substr(1, sizes.size() - 2));
  }
  if (const auto swap = trailingSwap(node)) {
    return fmt::format("torch.transpose({}, {}, {})", operands[0], swap->first, swap->second);
  }
  std::vector<std::string> arguments;
  size_t next = 0;
  for (const Argument &argument : findOperation(node.op)->arguments) {
    if (argument.type == ArgumentType::Operand) {
      const auto input = static_cast<size_t>(node.inputs[next]);
      if (!op.nodes[input].attributes.contains("default")) {
        arguments.push_back(arguments.size() == next ? operands[next]
                                                     : argument.name + "=" + operands[next]);
      }
      ++next;
    } else if (argument.type == ArgumentType::Reduction) { // the node is the loss of each element
      arguments.push_back(argument.name + "=\"none\"");
    } else if (std::string text = attributeText(argument, node, op); !text.empty()) {
      arguments.push_back(std::move(text));
    }
  }
  const auto [function, part] = functionAndPart(node);
  return fmt::format("torch.{}({}){}", function, fmt::join(arguments, ", "), part);
}

} // namespace nereid::definition
