// SPDX-License-Identifier: Apache-2.0
// Calls that become more than one operation: the functions of operations.def that are texts, read
// here with their arguments in the place of names, what a keyword adds around a call (reduction=,
// alpha=, rounding_mode=), and torch.einsum.
#include "lib/definition/reader/BodyExpressions.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/definition/reader/einsum/EinsumGraph.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

/// "p=2": what the argument has to be for a form of a function.
struct Condition {
  std::string argument;
  double number;
};

Condition conditionOf(const std::string &when) {
  const size_t equals = when.find('=');
  return {when.substr(0, equals), std::strtod(when.c_str() + equals + 1, nullptr)};
}

} // namespace

/// What a call says of an argument: nothing when it is left out or None.
const Expr *BodyExpressions::resolved(const Expr *given) const {
  if (given && given->kind == ExprKind::Name && literals.count(given->text) != 0) {
    given = known.literalNamed(*given);
  }
  return given && given->kind != ExprKind::None ? given : nullptr;
}

std::optional<int> BodyExpressions::functionCall(const Call &call, const Function &function) {
  auto given = matched(call, function.name, function.arguments);
  if (!given) {
    return std::nullopt;
  }
  std::map<std::string, int> operands;
  std::map<std::string, const Expr *> others;
  std::vector<language::SourceModule> defaults; // whose expressions `others` points into
  for (const Argument &argument : function.arguments) {
    auto found = given->find(argument.name);
    const Expr *value = found == given->end() ? nullptr : resolved(found->second);
    if (!value && !argument.hasDefault) {
      fail("E0608", call.whole->range,
           fmt::format("'{}' expects the argument '{}'", function.name, argument.name))
          .withHelp("its form is " + signatureText(function.name, function.arguments));
      return std::nullopt;
    }
    if (argument.type == ArgumentType::Operand) {
      const std::string &text = argument.defaultText;
      std::optional<int> node =
          value ? read(*value) : constant(std::strtod(text.c_str(), nullptr), text);
      if (!node) {
        return std::nullopt;
      }
      operands[argument.name] = *node;
      continue;
    }
    if (!value && argument.defaultText != "all") {
      Diagnostics unused;
      auto text = language::parseStatements(function.name, "x = " + argument.defaultText, unused);
      defaults.push_back(std::move(*text));
      value = defaults.back().body[0]->value.get();
    }
    // The text has names of its own, among which those of the call mean nothing.
    const Expr *literal = value ? known.literalOf(*value) : nullptr;
    const std::optional<int64_t> number = value ? known.integerOf(*value) : std::nullopt;
    if (number && !literalInteger(*value)) {
      literal = known.integerLiteral(*number, value->range);
    }
    others[argument.name] = literal ? literal : value;
  }
  for (const Function::Form &form : function.forms) {
    const Condition condition = form.when.empty() ? Condition{} : conditionOf(form.when);
    auto asked = operands.find(condition.argument);
    const Node *number =
        asked == operands.end() ? nullptr : &op.nodes[static_cast<size_t>(asked->second)];
    const bool fits = form.when.empty() || (number && number->op == "constant" &&
                                            constantValue(*number) == condition.number);
    if (fits) {
      return expanded(call, form.text, std::move(operands), std::move(others));
    }
  }
  return std::nullopt; // the last form of the table has no condition
}

std::optional<int> BodyExpressions::expanded(const Call &call, const std::string &text,
                                             std::map<std::string, int> operands,
                                             std::map<std::string, const Expr *> others) {
  Diagnostics unused;
  auto module = language::parseStatements(call.function, "out = " + text, unused);
  const std::optional<SourceRange> outer = callRange;
  // Who wrote the call reads of it, and not of the text.
  callRange = outer ? outer : std::optional(call.whole->range);
  std::swap(names, operands);
  std::swap(literals, others);
  std::optional<int> result = read(*module->body[0]->value);
  std::swap(names, operands);
  std::swap(literals, others);
  callRange = outer;
  return result;
}

/// `alpha` of sums and differences: a factor of the second operand; of rsub, of the first.
bool BodyExpressions::scaleOperand(const Expr *alpha, Node &node, SourceRange range) {
  if (!alpha) {
    return true;
  }
  int &operand = node.inputs[node.op == "rsub" ? 0 : 1];
  std::optional<int> factor = read(*alpha);
  std::optional<int> scaled =
      factor ? apply("mul", {operand, *factor}, range) : std::optional<int>();
  operand = scaled.value_or(operand);
  return scaled.has_value();
}

/// `rounding_mode` of quotients: "floor", or "trunc" of floats.
std::optional<int> BodyExpressions::roundedQuotient(const Expr &mode, Node node,
                                                    SourceRange range) {
  if (mode.kind == ExprKind::String && mode.text == "floor") {
    return apply("floor_divide", node.inputs, range);
  }
  const bool areIntegers = std::all_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
    return isAlways(input, [](DType type) { return !isFloat(type); }) ||
           operandKind(op.nodes[static_cast<size_t>(input)]) == OperandKind::Whole;
  });
  if (mode.kind != ExprKind::String || mode.text != "trunc" || areIntegers) {
    fail("E0608", mode.range,
         fmt::format("'rounding_mode' of 'div' expects \"floor\", or \"trunc\" of floats, but got "
                     "{}",
                     mode.kind == ExprKind::String ? "\"" + mode.text + "\" of integers"
                                                   : "another expression"));
    return std::nullopt;
  }
  std::optional<int> quotient = append(std::move(node), range);
  return quotient ? apply("trunc", {*quotient}, range) : std::nullopt;
}

/// A loss of each element, and its mean or sum.
std::optional<int> BodyExpressions::reducedLoss(const Expr *reduction, Node node,
                                                SourceRange range) {
  const bool isWord = !reduction || reduction->kind == ExprKind::String;
  const std::string word = reduction ? reduction->text : "mean";
  if (!isWord || (word != "none" && word != "mean" && word != "sum")) {
    fail("E0608", reduction->range,
         fmt::format("'reduction' of '{}' expects \"none\", \"mean\" or \"sum\"{}", node.op,
                     isWord ? ", but got \"" + word + "\"" : ""));
    return std::nullopt;
  }
  std::optional<int> loss = append(std::move(node), range);
  if (!loss || word == "none") {
    return loss;
  }
  Node total;
  total.op = word;
  total.inputs = {*loss};
  total.attributes["keepdim"] = false;
  return append(std::move(total), range);
}

/// Points at the character of the equation that is wrong.
std::optional<int> BodyExpressions::einsumCall(const Call &call) {
  const Expr &whole = *call.whole;
  const Expr *equation = call.positional.empty() ? nullptr : resolved(call.positional[0]);
  if (call.receiver || !whole.keywords.empty() || !equation || equation->kind != ExprKind::String) {
    fail("E0608", equation ? equation->range : whole.range,
         "'einsum' expects its equation as a literal string, then the operands")
        .withHelp("its form is torch.einsum(\"ij,jk->ik\", a, b)");
    return std::nullopt;
  }
  auto parsed = parseEinsum(equation->text);
  if (const auto *problem = std::get_if<EinsumProblem>(&parsed)) {
    // Behind the quote, if the text stands as it is meant.
    SourceRange place = equation->range;
    const bool isPlain =
        static_cast<size_t>(place.endColumn - place.column) == equation->text.size() + 2;
    if (isPlain) {
      place.column += 1 + static_cast<int>(problem->begin);
      place.endColumn = place.column + std::max(1, static_cast<int>(problem->end) -
                                                       static_cast<int>(problem->begin));
    }
    fail("E0608", place, problem->message).withHelp(problem->help);
    return std::nullopt;
  }
  const auto &read = std::get<EinsumEquation>(parsed);
  std::vector<const Expr *> given(call.positional.begin() + 1, call.positional.end());
  const bool isList =
      given.size() == 1 && (given[0]->kind == ExprKind::List || given[0]->kind == ExprKind::Tuple);
  if (isList) { // torch.einsum("i,j->ij", [a, b])
    const Expr &list = *given[0];
    given.clear();
    for (const language::ExprPtr &entry : list.operands) {
      given.push_back(entry.get());
    }
  }
  if (given.size() != read.operands.size()) {
    fail("E0608", whole.range,
         fmt::format("the equation of 'einsum' has {} operands, but the call {}",
                     read.operands.size(), given.size()))
        .withHelp("separate the operands' letters by ','");
    return std::nullopt;
  }
  std::vector<int> operands;
  for (const Expr *each : given) {
    const std::optional<int> operand = this->read(*each);
    if (!operand) {
      return std::nullopt;
    }
    if (isNumber(op.nodes[static_cast<size_t>(*operand)])) {
      fail("E0608", each->range, "'einsum' expects tensors, but got a number")
          .withHelp("multiply the result by it");
      return std::nullopt;
    }
    operands.push_back(*operand);
  }
  EinsumGraph graph(op.nodes, [&](Node node) { return append(std::move(node), whole.range); });
  if (auto problem = graph.prepare(read, operands)) {
    failWith(std::move(*problem), whole.range);
    return std::nullopt;
  }
  return graph.write();
}

} // namespace nereid::definition
