// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/SizeText.h"

#include "lib/definition/operations/SizeExpression.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

using language::Expr;
using language::ExprKind;

class Writer {
public:
  explicit Writer(const SizeNames &names) : names(names) {}

  std::string text(const Expr &expr) const {
    switch (expr.kind) {
    case ExprKind::Name: {
      definition::Dim dim;
      dim.symbol = expr.text;
      return names.variable(dim);
    }
    case ExprKind::Attribute:
      return "std::numeric_limits<double>::infinity()";
    case ExprKind::Unary:
      return "-" + text(*expr.operands[0]);
    case ExprKind::Call:
      return expr.operands[0]->text == "float"
                 ? real(*expr.operands[1])
                 : fmt::format("std::{}({})", expr.operands[0]->text, real(*expr.operands[1]));
    case ExprKind::Binary:
      return binary(expr);
    default:
      return expr.text; // a number
    }
  }

private:
  std::string real(const Expr &expr) const {
    return fmt::format("static_cast<double>({})", text(expr));
  }
  std::string binary(const Expr &expr) const {
    const Expr &a = *expr.operands[0], &b = *expr.operands[1];
    if (expr.text == "/") {
      return fmt::format("({} / {})", real(a), real(b));
    }
    if (expr.text == "**") {
      return fmt::format("std::pow({}, {})", real(a), real(b));
    }
    if (expr.text == "//" || expr.text == "%") { // Python rounds down
      const std::string rest = fmt::format("(({0} % {1} + {1}) % {1})", text(a), text(b));
      return expr.text == "%" ? rest : fmt::format("(({} - {}) / {})", text(a), rest, text(b));
    }
    return fmt::format("({} {} {})", text(a), expr.text, text(b));
  }

  const SizeNames &names;
};

} // namespace

std::string cppSizeNumber(const definition::Node &node, const SizeNames &names) {
  Diagnostics diags;
  const language::ExprPtr expr =
      language::parseExpression("size", definition::sizeText(node), diags);
  const std::string text = Writer(names).text(*expr);
  const bool isPower = text.find("std::pow") != std::string::npos;
  return isPower && node.attributes.contains("integer") ? "static_cast<int64_t>(" + text + ")"
                                                        : text;
}

} // namespace nereid::generator
