// SPDX-License-Identifier: Apache-2.0
// The table of primitives and their spelling in the kernel language.
#include "lib/generator/KernelExpression.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace nereid::generator {
namespace {

struct BinaryForm {
  const char *symbol;
  bool isBoolean;
};

const BinaryForm *binaryForm(const std::string &op) {
  static const std::map<std::string, BinaryForm> forms = {
      {"add", {"+", false}},         {"sub", {"-", false}},         {"mul", {"*", false}},
      {"div", {"/", false}},         {"eq", {"==", true}},          {"ne", {"!=", true}},
      {"lt", {"<", true}},           {"le", {"<=", true}},          {"gt", {">", true}},
      {"ge", {">=", true}},          {"logical_and", {"&", true}},  {"logical_or", {"|", true}},
      {"logical_xor", {"^", true}},  {"bitwise_and", {"&", false}}, {"bitwise_or", {"|", false}},
      {"bitwise_xor", {"^", false}},
  };
  auto found = forms.find(op);
  return found == forms.end() ? nullptr : &found->second;
}

/// Functions of one argument under the kernel language's name.
const char *functionName(const std::string &op) {
  static const std::map<std::string, const char *> names = {{"abs", "tl.abs"},
                                                            {"floor", "tl.floor"},
                                                            {"ceil", "tl.ceil"},
                                                            {"sqrt", "tl.sqrt"},
                                                            {"rsqrt", "tl.rsqrt"},
                                                            {"exp", "tl.exp"},
                                                            {"exp2", "tl.exp2"},
                                                            {"log", "tl.log"},
                                                            {"log2", "tl.log2"},
                                                            {"sin", "tl.sin"},
                                                            {"cos", "tl.cos"},
                                                            {"erf", "tl.erf"},
                                                            {"sigmoid", "tl.sigmoid"},
                                                            {"tanh", "libdevice.tanh"},
                                                            {"expm1", "libdevice.expm1"},
                                                            {"log1p", "libdevice.log1p"},
                                                            {"round", "libdevice.rint"},
                                                            {"trunc", "libdevice.trunc"},
                                                            {"erfc", "libdevice.erfc"},
                                                            {"log10", "libdevice.log10"},
                                                            {"tan", "libdevice.tan"},
                                                            {"asin", "libdevice.asin"},
                                                            {"acos", "libdevice.acos"},
                                                            {"atan", "libdevice.atan"},
                                                            {"sinh", "libdevice.sinh"},
                                                            {"cosh", "libdevice.cosh"},
                                                            {"asinh", "libdevice.asinh"},
                                                            {"acosh", "libdevice.acosh"},
                                                            {"atanh", "libdevice.atanh"},
                                                            {"erfinv", "libdevice.erfinv"},
                                                            {"lgamma", "libdevice.lgamma"},
                                                            {"i0", "libdevice.cyl_bessel_i0"}};
  auto found = names.find(op);
  return found == names.end() ? nullptr : found->second;
}

/// Functions of two arguments.
const char *functionOfTwo(const std::string &op) {
  static const std::map<std::string, const char *> names = {{"pow", "libdevice.pow"},
                                                            {"fmod", "libdevice.fmod"},
                                                            {"atan2", "libdevice.atan2"},
                                                            {"hypot", "libdevice.hypot"},
                                                            {"copysign", "libdevice.copysign"}};
  auto found = names.find(op);
  return found == names.end() ? nullptr : found->second;
}

/// What integers have by themselves: the language's quotient and rest go towards zero, and its
/// shifts know no distance outside of the type.
std::optional<kernel::Expr> ofIntegers(const std::string &op, const kernel::Expr &a,
                                       const kernel::Expr &b, const std::string &type) {
  using kernel::binary;
  const bool isUnsigned = type.find("uint") != std::string::npos;
  if (op == "fmod") {
    return binary("%", a, b);
  }
  if (op == "floor_divide") {
    const kernel::Expr whole = binary("//", a, b);
    if (isUnsigned) {
      return whole;
    }
    if (b->kind == kernel::ExprKind::Number && !b->text.starts_with("-")) {
      return binary("-", whole, cast(binary("<", binary("%", a, b), 0), type));
    }
    const kernel::Expr isApart = binary("!=", binary("<", a, 0), binary("<", b, 0));
    const kernel::Expr isBelow = binary("&", binary("!=", binary("%", a, b), 0), isApart);
    return binary("-", whole, cast(isBelow, type));
  }
  if (op != "bitwise_left_shift" && op != "bitwise_right_shift") {
    return std::nullopt;
  }
  const int64_t bits = std::stoll(type.substr(type.find("int") + 3));
  if (b->kind == kernel::ExprKind::Number && std::stoll(b->text) < bits) {
    return binary(op == "bitwise_left_shift" ? "<<" : ">>", a, b);
  }
  const kernel::Expr isInside = binary("&", binary(">=", b, 0), binary("<", b, bits));
  if (op == "bitwise_right_shift" && !isUnsigned) {
    return binary(">>", a, kernel::call("tl.where", {isInside, b, bits - 1}));
  }
  const char *sign = op == "bitwise_left_shift" ? "<<" : ">>";
  return kernel::call("tl.where", {isInside, binary(sign, a, b), 0});
}

Expression asNumber(const Expression &expression, const std::string &computeType) {
  return expression.isBoolean ? Expression{cast(expression.tree, computeType)} : expression;
}

Expression asBoolean(const Expression &expression) {
  return expression.isBoolean ? expression
                              : Expression{kernel::binary("!=", expression.tree, 0), true};
}

} // namespace

kernel::Expr cast(kernel::Expr value, const std::string &type) {
  return kernel::method(std::move(value), "to", {kernel::name(type)});
}

kernel::Expr constantExpression(double value, bool preferInteger) {
  bool isWhole = value == std::floor(value) && std::abs(value) < 1e15;
  return preferInteger && isWhole ? kernel::Expr(static_cast<int64_t>(value)) : kernel::real(value);
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
    return Expression{kernel::call("tl.where", {in[0].tree, a.tree, b.tree}), isBoolean};
  }
  if (op == "logical_not" || (op == "bitwise_not" && isOfBits)) {
    return Expression{kernel::binary("==", in[0].tree, 0), true};
  }
  if (!isLogical && !isOfBits) {
    for (Expression &operand : in) {
      operand = asNumber(operand, computeType);
    }
  }
  if (const BinaryForm *form = binaryForm(op)) {
    return Expression{kernel::binary(form->symbol, in[0].tree, in[1].tree),
                      form->isBoolean || isOfBits};
  }
  if (op == "neg" || op == "bitwise_not") {
    return Expression{kernel::unary(op == "neg" ? "-" : "~", in[0].tree)};
  }
  if (op == "maximum" || op == "minimum") {
    std::vector<kernel::Argument> arguments = {in[0].tree, in[1].tree};
    if (isFloating) {
      arguments.emplace_back("propagate_nan", kernel::name("tl.PropagateNan.ALL"));
    }
    return Expression{kernel::call("tl." + op, std::move(arguments))};
  }
  if (op == "sign") { // 0 of NaN, as in PyTorch
    return Expression{kernel::binary("-", cast(kernel::binary(">", in[0].tree, 0), computeType),
                                     cast(kernel::binary("<", in[0].tree, 0), computeType))};
  }
  if (!isFloating && in.size() == 2) {
    if (auto made = ofIntegers(op, in[0].tree, in[1].tree, computeType)) {
      return Expression{*made};
    }
  }
  if (const char *name = functionOfTwo(op)) {
    return Expression{kernel::call(name, {in[0].tree, in[1].tree})};
  }
  if (const char *name = functionName(op)) {
    return Expression{kernel::call(name, {in[0].tree})};
  }
  return std::nullopt;
}

bool takesTypedOperands(const std::string &op, bool isFloating) {
  return (isFloating && functionOfTwo(op)) || op == "maximum" || op == "minimum";
}

bool needsLibdevice(const std::string &op, bool isFloating) {
  const char *name = functionName(op);
  return (isFloating && functionOfTwo(op)) || op == "pow" ||
         (name && std::string_view(name).starts_with("libdevice."));
}

bool hasExpression(const std::string &op, bool isFloating) {
  static const std::set<std::string> others = {"neg",     "where",       "maximum",    "sign",
                                               "minimum", "logical_not", "bitwise_not"};
  static const std::set<std::string> integers = {"fmod", "floor_divide", "bitwise_left_shift",
                                                 "bitwise_right_shift"};
  const bool isOfFloats = functionName(op) || functionOfTwo(op);
  return others.contains(op) || binaryForm(op) || isOfFloats ||
         (!isFloating && integers.contains(op));
}

} // namespace nereid::generator
