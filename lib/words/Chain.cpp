// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Chain.h"

#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::words {
namespace {

using definition::ArgumentType;
using definition::Operation;
using definition::OperationKind;
using definition::ResultType;

constexpr size_t mostFunctions = 8;

/// Functions whose defaults leave the tensor as it is: a text has to say more.
bool needsNumbers(const std::string &name) { return name == "clamp" || name == "nan_to_num"; }

bool isReduction(const std::string &name) {
  return definition::findOperation(name)->kind == OperationKind::Reduction || name == "logsumexp";
}

/// "torch.exp(x)", "torch.softmax(x, dim=-1)"; "" when the function needs more.
std::string callText(const std::string &name, const std::string &operand) {
  const Operation *operation = definition::findOperation(name);
  if (!operation || needsNumbers(name) || operation->result == ResultType::Bool ||
      operation->result == ResultType::IntegerOnly) {
    return "";
  }
  std::string rest;
  int operands = 0;
  for (const definition::Argument &argument : operation->arguments) {
    if (argument.type == ArgumentType::Dims) {
      rest += fmt::format(", {}=-1", argument.name);
    } else if (argument.type == ArgumentType::TrailingShape) {
      rest += ", (D,)";
    } else if (argument.type == ArgumentType::Operand && !argument.hasDefault) {
      ++operands;
    } else if (!argument.hasDefault) {
      return "";
    }
  }
  const bool isView = operation->kind == OperationKind::View;
  return operands != 1 || isView
             ? ""
             : fmt::format("{}.{}({}{}{})", definition::moduleOf(name), name, operand, rest,
                           isReduction(name) ? ", keepdim=True" : "");
}

/// Of one tensor there is no larger of two.
std::string functionOf(const std::string &idea) {
  return idea == "maximum" ? "amax" : idea == "minimum" ? "amin" : idea;
}

/// What a chain cannot have beside its functions.
bool isOther(const Term &term) {
  return term.isNegated || term.kind == TermKind::Unknown || term.idea == "bias" ||
         term.idea == "weight" || term.idea == "two_tensors" || term.idea == "gate";
}

} // namespace

std::vector<std::string> chainOf(const std::vector<Term> &terms) {
  std::vector<std::string> functions;
  bool isThen = true;
  for (const Term &term : terms) {
    if (isOther(term)) {
      return {};
    }
    if (term.kind == TermKind::Then) {
      isThen = true;
    }
    if (term.kind != TermKind::Operation && term.kind != TermKind::Weak) {
      continue;
    }
    const std::string name = functionOf(term.idea);
    if (!isThen || !definition::findOperation(name) || functions.size() == mostFunctions) {
      return {};
    }
    functions.push_back(name);
    isThen = false;
  }
  return functions.size() > 1 ? functions : std::vector<std::string>();
}

std::optional<Shipped> chainDefinition(const std::vector<std::string> &functions) {
  std::string body, operand = "x";
  for (size_t i = 0; i < functions.size(); ++i) {
    const bool isLast = i + 1 == functions.size();
    const std::string call = callText(functions[i], operand);
    if (call.empty() || (isReduction(functions[i]) && !isLast)) {
      return std::nullopt;
    }
    operand = isLast ? "out" : fmt::format("step{}", i + 1);
    body += fmt::format("{} = {}\n", operand, call);
  }
  Shipped chain;
  chain.origin = fmt::format("the functions {}", fmt::join(functions, ", "));
  chain.text = fmt::format(R"(# SPDX-License-Identifier: Apache-2.0
[operator]
name = "{}"
summary = "One on the other's result: {}."
constraints = ["D >= 1"]
dtypes = ["float32", "float16", "bfloat16"]
body = """
{}"""

[inputs.x]
shape = ["...", "D"]
description = "what the first function is given"

[outputs.out]
shape = ["...", {}]

[performance]
cases = [
  {{ name = "4096x1024", "..." = [4096], D = 1024 }},
  {{ name = "odd 1023x1025", "..." = [1023], D = 1025 }},
]
)",
                           fmt::join(functions, "_"), fmt::join(functions, ", "), body,
                           isReduction(functions.back()) ? "1" : "\"D\"");
  Diagnostics diags;
  auto op = definition::parseOperator("chain", chain.text, diags);
  if (!op) {
    return std::nullopt;
  }
  chain.op = std::move(*op);
  return chain;
}

} // namespace nereid::words
