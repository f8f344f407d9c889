// SPDX-License-Identifier: Apache-2.0
// The table of primitives and their Triton spelling.
#include "lib/generator/KernelExpression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace nereid::generator {
namespace {

std::string parenthesised(const Expression &expression, Precedence atLeast) {
  return expression.precedence >= atLeast ? expression.text : "(" + expression.text + ")";
}

Precedence next(Precedence precedence) {
  return static_cast<Precedence>(static_cast<int>(precedence) + 1);
}

struct BinaryForm {
  const char *symbol;
  Precedence precedence;
  bool isBoolean;
};

const BinaryForm *binaryForm(const std::string &op) {
  static const std::map<std::string, BinaryForm> forms = {
      {"add", {"+", Precedence::Sum, false}},
      {"sub", {"-", Precedence::Sum, false}},
      {"mul", {"*", Precedence::Product, false}},
      {"div", {"/", Precedence::Product, false}},
      {"eq", {"==", Precedence::Comparison, true}},
      {"ne", {"!=", Precedence::Comparison, true}},
      {"lt", {"<", Precedence::Comparison, true}},
      {"le", {"<=", Precedence::Comparison, true}},
      {"gt", {">", Precedence::Comparison, true}},
      {"ge", {">=", Precedence::Comparison, true}},
      {"logical_and", {"&", Precedence::BitAnd, true}},
      {"logical_or", {"|", Precedence::BitOr, true}},
      {"logical_xor", {"^", Precedence::BitXor, true}},
      {"bitwise_and", {"&", Precedence::BitAnd, false}},
      {"bitwise_or", {"|", Precedence::BitOr, false}},
      {"bitwise_xor", {"^", Precedence::BitXor, false}},
  };
  auto found = forms.find(op);
  return found == forms.end() ? nullptr : &found->second;
}

/// Functions of one argument under the kernel language's name.
const char *functionName(const std::string &op) {
  static const std::map<std::string, const char *> names = {
      {"abs", "tl.abs"},           {"floor", "tl.floor"},      {"ceil", "tl.ceil"},
      {"sqrt", "tl.sqrt"},         {"rsqrt", "tl.rsqrt"},      {"exp", "tl.exp"},
      {"exp2", "tl.exp2"},         {"log", "tl.log"},          {"log2", "tl.log2"},
      {"sin", "tl.sin"},           {"cos", "tl.cos"},          {"erf", "tl.erf"},
      {"sigmoid", "tl.sigmoid"},   {"tanh", "libdevice.tanh"}, {"expm1", "libdevice.expm1"},
      {"log1p", "libdevice.log1p"}};
  auto found = names.find(op);
  return found == names.end() ? nullptr : found->second;
}

Expression asNumber(const Expression &expression, const std::string &computeType) {
  if (!expression.isBoolean) {
    return expression;
  }
  return {fmt::format("{}.to({})", parenthesised(expression, Precedence::Atom), computeType)};
}

Expression asBoolean(const Expression &expression) {
  if (expression.isBoolean) {
    return expression;
  }
  return {fmt::format("{} != 0", parenthesised(expression, next(Precedence::Comparison))),
          Precedence::Comparison, true};
}

} // namespace

Expression constantExpression(double value, bool preferInteger) {
  if (std::isnan(value)) {
    return {"float(\"nan\")"};
  }
  if (std::isinf(value)) {
    return value > 0 ? Expression{"float(\"inf\")"}
                     : Expression{"-float(\"inf\")", Precedence::Unary};
  }
  std::string text;
  if (preferInteger && value == std::floor(value) && std::abs(value) < 1e15) {
    text = fmt::format("{}", static_cast<int64_t>(value));
  } else {
    text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) {
      text += ".0";
    }
  }
  return {text, std::signbit(value) ? Precedence::Unary : Precedence::Atom};
}

std::optional<Expression> pointwiseExpression(const std::string &op,
                                              std::span<const Expression> operands,
                                              const std::string &computeType, bool isFloating) {
  bool isLogical = op.starts_with("logical_");
  bool isOfBits = op.starts_with("bitwise_") &&
                  std::all_of(operands.begin(), operands.end(),
                              [](const Expression &operand) { return operand.isBoolean; });
  std::vector<Expression> in;
  for (size_t i = 0; i < operands.size(); ++i) {
    bool isCondition = isLogical || (op == "where" && i == 0);
    in.push_back(isCondition ? asBoolean(operands[i]) : operands[i]);
  }
  if (op == "where") {
    bool isBoolean = in[1].isBoolean && in[2].isBoolean;
    Expression a = isBoolean ? in[1] : asNumber(in[1], computeType);
    Expression b = isBoolean ? in[2] : asNumber(in[2], computeType);
    return Expression{fmt::format("tl.where({}, {}, {})", in[0].text, a.text, b.text),
                      Precedence::Atom, isBoolean};
  }
  if (op == "logical_not") {
    return Expression{fmt::format("{} == 0", parenthesised(in[0], next(Precedence::Comparison))),
                      Precedence::Comparison, true};
  }
  if (!isLogical && !isOfBits) {
    for (Expression &operand : in) {
      operand = asNumber(operand, computeType);
    }
  }
  if (const BinaryForm *form = binaryForm(op)) {
    // Left-associative, and comparisons do not chain: the right side binds tighter.
    Precedence left = form->isBoolean && !isLogical ? next(form->precedence) : form->precedence;
    return Expression{fmt::format("{} {} {}", parenthesised(in[0], left), form->symbol,
                                  parenthesised(in[1], next(form->precedence))),
                      form->precedence, form->isBoolean || isOfBits};
  }
  if (op == "neg") {
    return Expression{"-" + parenthesised(in[0], Precedence::Unary), Precedence::Unary};
  }
  if (op == "bitwise_not") {
    return isOfBits ? Expression{fmt::format("{} == 0",
                                             parenthesised(in[0], next(Precedence::Comparison))),
                                 Precedence::Comparison, true}
                    : Expression{"~" + parenthesised(in[0], Precedence::Unary), Precedence::Unary};
  }
  if ((op == "maximum" || op == "minimum") && !isFloating) {
    return Expression{fmt::format("tl.{}({}, {})", op, in[0].text, in[1].text)};
  }
  if (op == "maximum" || op == "minimum") {
    return Expression{fmt::format("tl.{}({}, {}, propagate_nan=tl.PropagateNan.ALL)", op,
                                  in[0].text, in[1].text)};
  }
  if (op == "pow") {
    return Expression{fmt::format("libdevice.pow({}, {})", in[0].text, in[1].text)};
  }
  if (const char *name = functionName(op)) {
    return Expression{fmt::format("{}({})", name, in[0].text)};
  }
  return std::nullopt;
}

bool needsLibdevice(const std::string &op) {
  const char *name = functionName(op);
  return op == "pow" || (name && std::string_view(name).starts_with("libdevice."));
}

} // namespace nereid::generator
