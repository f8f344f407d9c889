// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/BodyText.h"

#include "lib/definition/gradient/IndexingText.h"
#include "lib/definition/operations/LeadingSum.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/SizeExpression.h"

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
    return *flag ? argument.name + "=True" : "";
  }
  if (const auto *dims = std::get_if<std::vector<int64_t>>(&value)) {
    return argument.name + "=" + dimsText(*dims);
  }
  if (const auto *word = std::get_if<std::string>(&value)) {
    return fmt::format("{}=\"{}\"", argument.name, *word);
  }
  return fmt::format("{}={}", argument.name, std::get<int64_t>(value));
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

std::string withNames(const std::string &text, const std::map<std::string, std::string> &names) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isOfName(text[end])) {
      ++end;
    }
    if (end == at) {
      result += text[at++];
      continue;
    }
    // Neither an attribute nor the name of an argument.
    const std::string name = text.substr(at, end - at);
    const bool isMember = at > 0 && text[at - 1] == '.';
    const bool isKeyword =
        end < text.size() && text[end] == '=' && (end + 1 == text.size() || text[end + 1] != '=');
    auto found = names.find(name);
    result += found == names.end() || isMember || isKeyword ? name : found->second;
    at = end;
  }
  return result;
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
  if (keptOfLeading(node)) {
    const std::string sizes = text(node.shape);
    return fmt::format("{}.sum_to_size({})", operands[0], sizes.substr(1, sizes.size() - 2));
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
    } else if (std::string text = attributeText(argument, node, op); !text.empty()) {
      arguments.push_back(std::move(text));
    }
  }
  return fmt::format("torch.{}({})", node.op, fmt::join(arguments, ", "));
}

} // namespace nereid::definition
