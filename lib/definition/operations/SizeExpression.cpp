// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/SizeExpression.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

namespace nereid::definition {
namespace {

using language::Expr;
using language::ExprKind;

SizeNumber ofWhole(int64_t value) { return {true, value, static_cast<double>(value), 0}; }
SizeNumber ofReal(double value, int roundings) { return {false, 0, value, roundings}; }

class Evaluator {
public:
  Evaluator(const std::string &text, const Binding &binding) : text(text), binding(binding) {}

  Result<SizeNumber> run(const Expr &expr) const {
    switch (expr.kind) {
    case ExprKind::Name:
      return size(expr.text);
    case ExprKind::Integer:
      return ofWhole(expr.integer);
    case ExprKind::Float:
      return ofReal(expr.real, 0);
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
  Result<SizeNumber> size(const std::string &symbol) const {
    auto found = binding.symbols.find(symbol);
    if (found == binding.symbols.end()) {
      return makeError("E0604", fmt::format("the size of '{}' in '{}' is not given", symbol, text));
    }
    return ofWhole(found->second);
  }
  Diagnostic tooLarge() const {
    return makeError("E0604", fmt::format("'{}' has more than 64 bits in this case", text));
  }

  Result<SizeNumber> negated(const SizeNumber &operand) const {
    if (!operand.isWhole) {
      return ofReal(-operand.real, operand.roundings);
    }
    int64_t result = 0;
    return __builtin_sub_overflow(int64_t{0}, operand.whole, &result)
               ? Result<SizeNumber>(tooLarge())
               : ofWhole(result);
  }

  static SizeNumber called(const std::string &name, const SizeNumber &operand) {
    const double x = operand.real;
    const int roundings = operand.roundings + (name == "float" ? 0 : 1);
    return ofReal(name == "sqrt"  ? std::sqrt(x)
                  : name == "log" ? std::log(x)
                  : name == "exp" ? std::exp(x)
                                  : x,
                  roundings);
  }

  Result<SizeNumber> binary(const std::string &name, const SizeNumber &a,
                            const SizeNumber &b) const {
    if (a.isWhole && b.isWhole && name != "/" && (name != "**" || b.whole >= 0)) {
      std::optional<int64_t> result = integers(name, a.whole, b.whole);
      return result ? ofWhole(*result) : Result<SizeNumber>(tooLarge());
    }
    const double x = a.real, y = b.real;
    const double result = name == "+"   ? x + y
                          : name == "-" ? x - y
                          : name == "*" ? x * y
                          : name == "/" ? x / y
                                        : std::pow(x, y);
    return ofReal(result, a.roundings + b.roundings + 1);
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

Result<SizeNumber> evaluateSizes(const std::string &text, const Binding &binding) {
  Diagnostics diags;
  language::ExprPtr expr = language::parseExpression("size", text, diags);
  if (!expr) {
    return diags.all().front();
  }
  return Evaluator(text, binding).run(*expr);
}

Result<Operator> withSizes(const Operator &op, const Binding &binding) {
  Operator result = op;
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
    auto number = evaluateSizes(sizeText(node), binding);
    if (!number) {
      return number.error();
    }
    node.op = "constant";
    node.attributes.erase("expression");
    node.attributes["value"] = number->real;
    if (node.attributes.contains("integer")) {
      node.attributes["integer"] = number->whole;
    } else if (number->roundings > 0) {
      node.attributes["roundings"] = static_cast<int64_t>(number->roundings);
    }
  }
  return result;
}

} // namespace nereid::definition
