// SPDX-License-Identifier: Apache-2.0
#include "lib/words/made/Chain.h"

#include "lib/definition/operations/Operations.h"
#include "lib/words/made/Made.h"

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

bool isArithmetic(const std::string &function) {
  return function == "add" || function == "sub" || function == "mul" || function == "div";
}

/// What names the second tensor of a step.
bool isOperand(const Term &term) {
  return term.idea == "bias" || term.idea == "residual" || term.idea == "two_tensors";
}

/// What a chain cannot have beside its functions.
bool isOther(const Term &term) {
  return term.isNegated || term.kind == TermKind::Unknown || term.idea == "weight" ||
         term.idea == "gate";
}

/// "dropout 0.1", "dropout with p = 0.1": a number below 1 behind the term.
std::string probabilityBehind(const Term &term, const std::vector<Token> &tokens) {
  constexpr size_t reach = 5;
  for (size_t i = term.last + 1; i < tokens.size() && i <= term.last + reach; ++i) {
    if (tokens[i].kind == TokenKind::Number) {
      const std::string &text = tokens[i].text;
      return text.starts_with("0.") || text.starts_with(".") ? text : "";
    }
  }
  return "";
}

/// The terms between two "then".
using Part = std::vector<const Term *>;

std::vector<Part> partsOf(const std::vector<Term> &terms) {
  std::vector<Part> parts(1);
  for (const Term &term : terms) {
    if (term.kind == TermKind::Then) {
      parts.emplace_back();
    } else {
      parts.back().push_back(&term);
    }
  }
  std::erase_if(parts, [](const Part &part) { return part.empty(); });
  return parts;
}

/// The steps of a part: one, or a product and its bias. Nothing when it says more, or less.
std::vector<ChainStep> stepsOf(const Part &part, bool isFirst, const std::vector<Token> &tokens) {
  std::vector<ChainStep> steps;
  std::string operand;
  for (const Term *term : part) {
    if (isOperand(*term)) {
      if (!operand.empty()) {
        return {};
      }
      operand = term->idea == "two_tensors" ? "y" : term->idea;
    } else if (term->kind == TermKind::Operation || term->kind == TermKind::Weak) {
      steps.push_back({functionOf(term->idea), "", ""});
      if (term->idea == "dropout") {
        steps.back().number = probabilityBehind(*term, tokens);
      }
    }
  }
  const bool isProduct = !steps.empty() && steps.front().function == "matmul";
  if (isProduct && operand == "bias" && steps.size() == 1) {
    steps.push_back({"add", "", ""}); // "linear with bias"
  }
  if (steps.size() == (isProduct && operand == "bias" ? 2u : 1u)) {
    ChainStep &last = steps.back();
    const bool isOfTwo = isArithmetic(last.function);
    last.operand = operand.empty() && isOfTwo && isFirst ? "y" : operand;
    const bool fits = last.operand.empty() ? !isOfTwo : isOfTwo && (isFirst || operand != "y");
    return fits ? steps : std::vector<ChainStep>();
  }
  return {};
}

/// One line of the body's right side; "" when the step cannot be written.
std::string stepText(const ChainStep &step, const std::string &operand, bool isFirst) {
  if (isArithmetic(step.function)) {
    const char *sign = step.function == "add"   ? "+"
                       : step.function == "sub" ? "-"
                       : step.function == "mul" ? "*"
                                                : "/";
    return step.operand.empty() ? "" : fmt::format("{} {} {}", operand, sign, step.operand);
  }
  if (step.function == "matmul") {
    return isFirst ? operand + " @ w" : "";
  }
  if (step.function == "dropout") {
    return step.number.empty() ? ""
                               : fmt::format("F.dropout({}, {}, seed=seed)", operand, step.number);
  }
  return callText(step.function, operand);
}

/// What the body reads: the first tensor, and what its steps name.
std::vector<MadeInput> inputsOf(const std::vector<ChainStep> &steps, bool isProduct) {
  std::vector<MadeInput> inputs = {
      {"x", isProduct ? R"(["M", "K"])" : rowsShape(false), "what the first function is given"}};
  const auto add = [&](MadeInput input) {
    const bool isKnown = std::any_of(inputs.begin(), inputs.end(),
                                     [&](const MadeInput &one) { return one.name == input.name; });
    if (!isKnown) {
      inputs.push_back(std::move(input));
    }
  };
  if (isProduct) {
    add({"w", R"(["K", "N"])", "the product's second matrix"});
  }
  for (const ChainStep &step : steps) {
    if (step.operand == "bias") {
      add({"bias", rowShape(isProduct), "one value for each column"});
    } else if (!step.operand.empty()) {
      add({step.operand, rowsShape(isProduct), "the second tensor of '" + step.function + "'"});
    }
    if (step.function == "dropout") {
      add({"seed", "", "of all numbers that are drawn", "1234"});
    }
  }
  return inputs;
}

} // namespace

std::vector<ChainStep> chainOf(const std::vector<Term> &terms, const std::vector<Token> &tokens) {
  std::vector<ChainStep> all;
  if (std::any_of(terms.begin(), terms.end(), isOther)) {
    return {};
  }
  for (const Part &part : partsOf(terms)) {
    const bool saysNothing = std::none_of(part.begin(), part.end(), [](const Term *term) {
      return isOperand(*term) || term->kind == TermKind::Operation || term->kind == TermKind::Weak;
    });
    if (saysNothing) {
      continue; // "…, then in fp16"
    }
    std::vector<ChainStep> steps = stepsOf(part, all.empty(), tokens);
    const bool areKnown =
        !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const ChainStep &step) {
          return definition::findOperation(step.function) || step.function == "dropout";
        });
    if (!areKnown || all.size() + steps.size() > mostFunctions) {
      return {};
    }
    all.insert(all.end(), steps.begin(), steps.end());
  }
  return all.size() > 1 ? all : std::vector<ChainStep>();
}

std::optional<Shipped> chainDefinition(const std::vector<ChainStep> &steps) {
  MadeParts parts;
  parts.isProduct = steps.front().function == "matmul";
  std::string operand = "x";
  std::vector<std::string> names, said;
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string &function = steps[i].function;
    const bool isLast = i + 1 == steps.size();
    const std::string text = stepText(steps[i], operand, i == 0);
    const definition::Operation *operation = definition::findOperation(function);
    const bool isEnd = operation && isReduction(function);
    if (text.empty() || (isEnd && !isLast) ||
        (parts.isProduct && text.find("(D,)") != std::string::npos)) {
      return std::nullopt;
    }
    operand = isLast ? "out" : fmt::format("step{}", i + 1);
    parts.body += fmt::format("{} = {}\n", operand, text);
    names.push_back(function);
    const bool isPlain = // it may also take a weight and a bias
        operation && std::any_of(operation->arguments.begin(), operation->arguments.end(),
                                 [](const auto &one) { return one.name == "weight"; });
    said.push_back(function + (isPlain                    ? " (without weight and bias)"
                               : steps[i].operand.empty() ? ""
                               : steps[i].operand == "y"  ? " (of two tensors)"
                                                          : " (" + steps[i].operand + ")"));
  }
  parts.name = fmt::format("{}", fmt::join(names, "_"));
  parts.summary = fmt::format("One on the other's result: {}.", fmt::join(names, ", "));
  parts.origin = fmt::format("the functions {}", fmt::join(said, ", "));
  parts.functions = {names.begin(), names.end()};
  parts.inputs = inputsOf(steps, parts.isProduct);
  return madeDefinition(parts);
}

} // namespace nereid::words
