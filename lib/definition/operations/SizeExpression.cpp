// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/SizeExpression.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace nereid::definition {
namespace {

using language::Expr;
using language::ExprKind;

SizeNumber ofWhole(int64_t value) { return {true, value, static_cast<double>(value), 0}; }
SizeNumber ofReal(double value, double error) { return {false, 0, value, error}; }
/// As it is written: float32 has it, or its nearest neighbour.
SizeNumber ofGiven(double value) {
  const bool isExact = static_cast<double>(static_cast<float>(value)) == value;
  return ofReal(value, isExact || !std::isfinite(value) ? 0 : std::fabs(value));
}

/// Unit roundoffs that the operation of the name may add.
double roundingsOf(const std::string &name) {
  const Operation *operation = findOperation(name);
  return operation ? std::max<double>(operation->rounding, 1) : 1;
}

class Evaluator {
public:
  Evaluator(const std::string &text, const Binding &binding, const NumberInputs &numbers)
      : text(text), binding(binding), numbers(numbers) {}

  Result<SizeNumber> run(const Expr &expr) const {
    switch (expr.kind) {
    case ExprKind::Name:
      return named(expr.text);
    case ExprKind::Integer:
      return ofWhole(expr.integer);
    case ExprKind::Float:
      return ofGiven(expr.real);
    case ExprKind::Attribute:
      return ofReal(INFINITY, 0); // math.inf, the only one that sizeText writes
    case ExprKind::Unary: {
      auto operand = run(*expr.operands[0]);
      return operand ? negated(*operand) : operand;
    }
    case ExprKind::Binary: {
      auto a = run(*expr.operands[0]), b = run(*expr.operands[1]);
      return !a ? a : !b ? b : binary(expr.text, *a, *b);
    }
    case ExprKind::Call: {
      auto operand = run(*expr.operands[1]);
      return operand ? called(expr.operands[0]->text, *operand) : operand;
    }
    default:
      return tooLarge();
    }
  }

private:
  Result<SizeNumber> named(const std::string &name) const {
    if (const auto number = numbers.find(name); number != numbers.end()) {
      return number->second.isInteger ? ofWhole(static_cast<int64_t>(number->second.value))
                                      : ofGiven(number->second.value);
    }
    auto found = binding.symbols.find(name);
    if (found == binding.symbols.end()) {
      return makeError("E0604", fmt::format("the size of '{}' in '{}' is not given", name, text));
    }
    return ofWhole(found->second);
  }
  Diagnostic tooLarge() const {
    return makeError("E0604", fmt::format("'{}' has more than 64 bits in this case", text));
  }

  Result<SizeNumber> negated(const SizeNumber &operand) const {
    if (!operand.isWhole) {
      return ofReal(-operand.real, operand.error);
    }
    int64_t result = 0;
    return __builtin_sub_overflow(int64_t{0}, operand.whole, &result)
               ? Result<SizeNumber>(tooLarge())
               : ofWhole(result);
  }

  static SizeNumber called(const std::string &name, const SizeNumber &operand) {
    const double x = operand.real;
    if (name == "float") {
      return ofReal(x, operand.error);
    }
    const double result = name == "sqrt" ? std::sqrt(x) : name == "log" ? std::log(x) : std::exp(x);
    const double slope = name == "sqrt" ? 0.5 / result : name == "log" ? 1 / x : result;
    return ofReal(result, passedOn(operand.error, slope) + roundingsOf(name) * std::fabs(result));
  }

  /// What an operand that is off by `error` does to a result with that derivative.
  static double passedOn(double error, double slope) {
    return error == 0 ? 0 : error * std::fabs(slope);
  }

  Result<SizeNumber> binary(const std::string &name, const SizeNumber &a,
                            const SizeNumber &b) const {
    if (a.isWhole && b.isWhole && name != "/" && (name != "**" || b.whole >= 0)) {
      std::optional<int64_t> result = integers(name, a.whole, b.whole);
      return result ? ofWhole(*result) : Result<SizeNumber>(tooLarge());
    }
    const double x = a.real, y = b.real;
    if (name == "+" || name == "-") {
      const double result = name == "+" ? x + y : x - y;
      return ofReal(result, a.error + b.error + std::fabs(result));
    }
    if (name == "*") {
      return ofReal(x * y, passedOn(a.error, y) + passedOn(b.error, x) + std::fabs(x * y));
    }
    if (name == "/") {
      const double result = x / y;
      return ofReal(result,
                    passedOn(a.error, 1 / y) + passedOn(b.error, result / y) + std::fabs(result));
    }
    const double result = std::pow(x, y);
    return ofReal(result, passedOn(a.error, y * std::pow(x, y - 1)) +
                              passedOn(b.error, result * std::log(std::fabs(x))) +
                              roundingsOf("pow") * std::fabs(result));
  }

  /// Python's floor division and remainder; nothing where 64 bits do not hold it, or by 0.
  static std::optional<int64_t> integers(const std::string &name, int64_t a, int64_t b) {
    int64_t result = 0;
    bool fails = false;
    if (name == "+") {
      fails = __builtin_add_overflow(a, b, &result);
    } else if (name == "-") {
      fails = __builtin_sub_overflow(a, b, &result);
    } else if (name == "*") {
      fails = __builtin_mul_overflow(a, b, &result);
    } else if (name == "**") {
      return power(a, b);
    } else if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) {
      fails = true;
    } else {
      const int64_t quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
      result = name == "//" ? quotient : a - quotient * b;
    }
    return fails ? std::nullopt : std::optional(result);
  }
  static std::optional<int64_t> power(int64_t base, int64_t exponent) {
    if (base >= -1 && base <= 1) {
      const bool isOne = exponent == 0 || base == 1 || (base == -1 && exponent % 2 == 0);
      return isOne ? 1 : base;
    }
    int64_t result = 1;
    for (int64_t i = 0; i < exponent; ++i) {
      if (__builtin_mul_overflow(result, base, &result)) {
        return std::nullopt;
      }
    }
    return result;
  }

  const std::string &text;
  const Binding &binding;
  const NumberInputs &numbers;
};

} // namespace

bool isSize(const Node &node) { return node.op == "size"; }

std::string sizeText(const Node &node) {
  if (isSize(node)) {
    return stringAttribute(node, "expression", "");
  }
  if (const auto integer = node.attributes.find("integer"); integer != node.attributes.end()) {
    return fmt::format("{}", std::get<int64_t>(integer->second));
  }
  const double value = constantValue(node);
  std::string text =
      std::isinf(value) ? (value < 0 ? "-math.inf" : "math.inf") : fmt::format("{}", value);
  const bool hasPoint = text.find_first_of(".en") != std::string::npos;
  return hasPoint ? text : text + ".0";
}

Node sizeNode(std::string text, bool isWhole) {
  Node node;
  node.op = "size";
  node.attributes["expression"] = std::move(text);
  if (isWhole) {
    node.attributes["integer"] = int64_t{0};
  }
  return node;
}

bool hasNumberInputs(const Node &node) { return node.attributes.contains("of_inputs"); }

void noteNumberInputs(Node &node) { node.attributes["of_inputs"] = true; }

NumberInputs numberInputs(const Operator &op) {
  NumberInputs numbers;
  for (const Parameter &parameter : op.parameters) {
    if (parameter.isScalar && !parameter.isSize()) {
      numbers[parameter.name] = {parameter.value, parameter.isInteger};
    }
  }
  return numbers;
}

Result<SizeNumber> evaluateSizes(const std::string &text, const Binding &binding,
                                 const NumberInputs &numbers) {
  Diagnostics diags;
  language::ExprPtr expr = language::parseExpression("size", text, diags);
  if (!expr) {
    return diags.all().front();
  }
  return Evaluator(text, binding, numbers).run(*expr);
}

Result<Operator> withSizes(const Operator &op, const Binding &binding) {
  Operator result = op;
  const NumberInputs numbers = numberInputs(op);
  for (Node &node : result.nodes) {
    if (isMovement(node)) {
      if (Status moved = bindMovement(node, binding); !moved) {
        return moved.error();
      }
      continue;
    }
    if (isCreation(node)) {
      if (Status made = bindCreation(node, binding); !made) {
        return made.error();
      }
      continue;
    }
    if (!isSize(node)) {
      continue;
    }
    auto number = evaluateSizes(sizeText(node), binding, numbers);
    if (!number) {
      return number.error();
    }
    node.op = "constant";
    node.attributes.erase("expression");
    node.attributes["value"] = number->real;
    if (node.attributes.contains("integer")) {
      node.attributes["integer"] = number->whole;
    } else if (number->error > 0) {
      node.attributes["error"] = number->error;
    }
  }
  return result;
}

} // namespace nereid::definition
