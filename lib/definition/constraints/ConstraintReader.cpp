// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/constraints/ConstraintReader.h"

#include "lib/definition/operations/Shape.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::definition {
namespace {

using language::Expr;
using language::ExprKind;
using Kind = ConstraintTerm::Kind;
using Term = std::optional<ConstraintTerm>;

constexpr const char *available =
    "available: comparisons between sizes (D, x.shape[-1], x.dim(), x.numel()), numbers and "
    "number inputs with + - * // %, 'x.dtype == y.dtype', 'x.shape == y.shape', "
    "'x.is_contiguous()', and ranges of values such as 'x >= 0'";

/// What may stand on both sides of a comparison.
enum class Side { Number, Shape, Type, Values };

Side sideOf(const ConstraintTerm &term) {
  switch (term.kind) {
  case Kind::Shape:
  case Kind::List:
    return Side::Shape;
  case Kind::Type:
  case Kind::TypeName:
    return Side::Type;
  case Kind::Values:
    return Side::Values;
  default:
    return Side::Number;
  }
}

const char *text(Side side) {
  switch (side) {
  case Side::Number:
    return "a number";
  case Side::Shape:
    return "a shape";
  case Side::Type:
    return "a type";
  case Side::Values:
    return "a tensor's values";
  }
  return "";
}

/// A number that needs no sizes, with its sign.
std::optional<long double> literal(const ConstraintTerm &term) {
  if (term.kind == Kind::Number) {
    return term.number;
  }
  bool isNegative = term.kind == Kind::Negative && term.operands[0].kind == Kind::Number;
  return isNegative ? std::optional(-term.operands[0].number) : std::nullopt;
}

/// Number inputs and fractions do not divide: Python and C++ would disagree on remainders.
bool isWhole(const ConstraintTerm &term) {
  constexpr long double beyond = 9223372036854775808.0L; // the first that int64 has not
  const bool isWholeNumber = term.kind != Kind::Number || (std::fabs(term.number) < beyond &&
                                                           std::trunc(term.number) == term.number);
  return term.kind != Kind::Scalar && isWholeNumber &&
         std::all_of(term.operands.begin(), term.operands.end(), isWhole);
}

class Reader {
public:
  Reader(Operator &op, const ConstraintPlace &place, Diagnostics &diags)
      : op(op), place(place), diags(diags) {}

  bool run(const std::string &text) {
    Diagnostics syntax;
    language::ExprPtr expr = language::parseExpression(place.path, text, syntax);
    for (const Diagnostic &problem : syntax.all()) {
      fail(problem.range, "a constraint is not understood: " + problem.message);
    }
    return expr && !syntax.hasErrors() && readAll(*expr);
  }

private:
  Diagnostic &fail(SourceRange range, std::string message) {
    SourceRange there{place.line + range.line - 1, range.column, range.endColumn};
    if (range.line == 1) {
      there.column += place.column - 1;
      there.endColumn += place.column - 1;
    }
    Diagnostic &error = diags.add(makeError("E0616", std::move(message)));
    return error.at(place.path, place.fileText, there).withHelp(available);
  }

  bool readAll(const Expr &expr) {
    if (expr.kind == ExprKind::And) {
      return std::all_of(expr.operands.begin(), expr.operands.end(),
                         [&](const language::ExprPtr &each) { return readAll(*each); });
    }
    if (expr.kind == ExprKind::Compare) {
      return comparison(expr);
    }
    if (expr.kind == ExprKind::ChainedCompare) {
      fail(expr.range, "a constraint expects one comparison, but got several in a row")
          .withHelp("join them: 'a < b and b < c'");
      return false;
    }
    const Expr *tensor = methodOf(expr, "is_contiguous");
    if (!tensor) {
      Term known = term(expr); // says what is unknown in it, if anything is
      if (known) {
        fail(expr.range, "a constraint expects a comparison");
      }
      return false;
    }
    Term of = tensorNamed(*tensor, Kind::Values);
    if (!of) {
      return false;
    }
    Constraint constraint;
    constraint.left = std::move(*of);
    constraint.text = definition::text(constraint.left, op) + ".is_contiguous()";
    op.constraints.push_back(std::move(constraint));
    return true;
  }

  bool comparison(const Expr &expr) {
    static const std::vector<std::string> relations = {"==", "!=", "<", "<=", ">", ">="};
    if (std::find(relations.begin(), relations.end(), expr.text) == relations.end()) {
      fail(expr.range, fmt::format("'{}' is not available in a constraint", expr.text));
      return false;
    }
    Term left = term(*expr.operands[0]), right = term(*expr.operands[1]);
    if (!left || !right) {
      return false;
    }
    Constraint constraint{"", expr.text, std::move(*left), std::move(*right)};
    if (sideOf(constraint.right) == Side::Values) {
      std::swap(constraint.left, constraint.right);
      constraint.relation = mirrored(constraint.relation);
    }
    if (!fits(constraint, expr)) {
      return false;
    }
    constraint.text = fmt::format("{} {} {}", definition::text(constraint.left, op),
                                  constraint.relation, definition::text(constraint.right, op));
    if (constraint.isAboutValues()) {
      constraint.right.number = *literal(constraint.right);
      constraint.right.kind = Kind::Number;
      constraint.right.operands.clear();
    }
    op.constraints.push_back(std::move(constraint));
    return true;
  }

  bool fits(const Constraint &constraint, const Expr &expr) {
    const Side left = sideOf(constraint.left), right = sideOf(constraint.right);
    bool isEquality = constraint.relation == "==" || constraint.relation == "!=";
    if (left == Side::Values) {
      auto bound = literal(constraint.right);
      if (!bound || constraint.relation == "==" || (constraint.relation == "!=" && *bound != 0)) {
        fail(expr.range, "values of a tensor are compared with a number by <, <=, > or >=, or "
                         "with 0 by !=");
        return false;
      }
      return true;
    }
    if (left != right) {
      fail(expr.range, fmt::format("a constraint expects one kind on both sides, but got {} and {}",
                                   text(left), text(right)));
      return false;
    }
    if (left != Side::Number && !isEquality) {
      fail(expr.range,
           fmt::format("{} has no order: '{}' is not available", text(left), constraint.relation))
          .withHelp("use == or !=");
      return false;
    }
    return true;
  }

  // ---- terms ----

  Term term(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Integer:
      if (expr.integer < 0) { // beyond 63 bits, as the text has no sign
        fail(expr.range, "a number of a constraint is at most 9223372036854775807");
        return std::nullopt;
      }
      return number(static_cast<long double>(expr.integer));
    case ExprKind::Float:
      return number(static_cast<long double>(expr.real));
    case ExprKind::Name:
      return named(expr);
    case ExprKind::Unary:
      return negative(expr);
    case ExprKind::Binary:
      return binary(expr);
    case ExprKind::Attribute:
      return attribute(expr);
    case ExprKind::Subscript:
      return size(*expr.operands[0], *expr.operands[1], expr);
    case ExprKind::Call:
      return call(expr);
    case ExprKind::List:
    case ExprKind::Tuple:
      return list(expr);
    default:
      fail(expr.range, "this is not available in a constraint");
      return std::nullopt;
    }
  }

  static ConstraintTerm number(long double value) {
    ConstraintTerm made;
    made.number = value;
    return made;
  }

  int parameterNamed(const std::string &name) const {
    for (size_t i = 0; i < op.parameters.size(); ++i) {
      if (op.parameters[i].name == name) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  Term unknown(const Expr &expr, const std::string &name) {
    std::vector<std::string> known = symbolsOf(op);
    std::erase(known, "...");
    for (const Parameter &parameter : op.parameters) {
      known.push_back(parameter.name);
    }
    auto near = nearestNames(name, known);
    fail(expr.range, fmt::format("'{}' is neither an input nor a size", name))
        .withHelp(near.empty() ? fmt::format("known here: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean '{}'?", fmt::join(near, "', '")));
    return std::nullopt;
  }

  Term named(const Expr &expr) {
    ConstraintTerm made;
    made.parameter = parameterNamed(expr.text);
    if (made.parameter >= 0 && !op.parameters[static_cast<size_t>(made.parameter)].isSize()) {
      bool isScalar = op.parameters[static_cast<size_t>(made.parameter)].isScalar;
      made.kind = isScalar ? Kind::Scalar : Kind::Values;
      return made;
    }
    std::vector<std::string> symbols = symbolsOf(op);
    if (std::find(symbols.begin(), symbols.end(), expr.text) == symbols.end()) {
      return unknown(expr, expr.text);
    }
    made.parameter = -1;
    made.kind = Kind::Symbol;
    made.name = expr.text;
    return made;
  }

  /// A term about a tensor that `expr` names.
  Term tensorNamed(const Expr &expr, Kind kind) {
    int parameter = expr.kind == ExprKind::Name ? parameterNamed(expr.text) : -1;
    if (parameter < 0) {
      if (expr.kind == ExprKind::Name) {
        return unknown(expr, expr.text);
      }
      fail(expr.range, "a constraint expects the name of an input here");
      return std::nullopt;
    }
    if (op.parameters[static_cast<size_t>(parameter)].isScalar) {
      fail(expr.range, fmt::format("'{}' is a number and has no shape or type", expr.text));
      return std::nullopt;
    }
    ConstraintTerm made;
    made.kind = kind;
    made.parameter = parameter;
    return made;
  }

  Term noProperty(const Expr &expr, const std::string &name) {
    static const std::vector<std::string> known = {"shape", "dtype", "ndim",         "dim",
                                                   "numel", "size",  "is_contiguous"};
    auto near = nearestNames(name, known);
    Diagnostic &error =
        fail(expr.range, fmt::format("constraints know no property '{}' of a tensor", name));
    if (!near.empty()) {
      error.withHelp(fmt::format("did you mean '{}'?", fmt::join(near, "', '")));
    }
    return std::nullopt;
  }

  Term attribute(const Expr &expr) {
    const Expr &base = *expr.operands[0];
    bool isTorch =
        base.kind == ExprKind::Name && base.text == "torch" && parameterNamed("torch") < 0;
    if (isTorch) {
      auto dtype = parseDType(expr.text);
      if (!dtype) {
        fail(expr.range, fmt::format("unknown type 'torch.{}'", expr.text));
        return std::nullopt;
      }
      ConstraintTerm made;
      made.kind = Kind::TypeName;
      made.dtype = *dtype;
      return made;
    }
    if (expr.text == "shape") {
      return tensorNamed(base, Kind::Shape);
    }
    if (expr.text == "dtype") {
      return tensorNamed(base, Kind::Type);
    }
    if (expr.text == "ndim") {
      return tensorNamed(base, Kind::Rank);
    }
    return noProperty(expr, expr.text);
  }

  /// The tensor of `tensor.name()`; null for any other expression.
  static const Expr *methodOf(const Expr &expr, std::string_view name) {
    bool isCall = expr.kind == ExprKind::Call && expr.operands.size() == 1 &&
                  expr.keywords.empty() && expr.operands[0]->kind == ExprKind::Attribute;
    return isCall && expr.operands[0]->text == name ? expr.operands[0]->operands[0].get() : nullptr;
  }

  Term call(const Expr &expr) {
    if (const Expr *tensor = methodOf(expr, "dim")) {
      return tensorNamed(*tensor, Kind::Rank);
    }
    if (const Expr *tensor = methodOf(expr, "numel")) {
      return tensorNamed(*tensor, Kind::Count);
    }
    const Expr &callee = *expr.operands[0];
    if (callee.kind != ExprKind::Attribute) {
      fail(expr.range, "this call is not available in a constraint");
      return std::nullopt;
    }
    if (callee.text == "size" && expr.operands.size() == 2) {
      return size(callee, *expr.operands[1], expr);
    }
    return noProperty(callee, callee.text);
  }

  /// `tensor.shape[index]` or `tensor.size(index)`.
  Term size(const Expr &of, const Expr &index, const Expr &whole) {
    bool isShape = of.kind == ExprKind::Attribute && (of.text == "shape" || of.text == "size");
    if (!isShape) {
      fail(whole.range, "an index in a constraint belongs behind '.shape'");
      return std::nullopt;
    }
    Term made = tensorNamed(*of.operands[0], Kind::Size);
    bool isNegative = index.kind == ExprKind::Unary && index.text == "-";
    const Expr &digits = isNegative ? *index.operands[0] : index;
    if (!made || digits.kind != ExprKind::Integer) {
      if (made) {
        fail(index.range, "a dimension is named by a literal integer");
      }
      return std::nullopt;
    }
    made->index = isNegative ? -digits.integer : digits.integer;
    const SymbolicShape &shape = op.parameters[static_cast<size_t>(made->parameter)].shape;
    bool isOpen = !shape.empty() && shape[0].isRest();
    const auto rank = static_cast<int64_t>(shape.size());
    if (!isOpen && (made->index >= rank || made->index < -rank)) {
      fail(index.range,
           fmt::format("dimension {} is outside of {}", made->index, definition::text(shape)));
      return std::nullopt;
    }
    return made;
  }

  Term negative(const Expr &expr) {
    Term inner = expr.text == "-" ? term(*expr.operands[0]) : std::nullopt;
    if (expr.text != "-" || (inner && sideOf(*inner) != Side::Number)) {
      fail(expr.range, fmt::format("'{}' is not available here in a constraint", expr.text));
      return std::nullopt;
    }
    if (!inner) {
      return std::nullopt;
    }
    ConstraintTerm made;
    made.kind = Kind::Negative;
    made.operands.push_back(std::move(*inner));
    return made;
  }

  Term binary(const Expr &expr) {
    static const std::vector<std::string> known = {"+", "-", "*", "//", "%"};
    Term a = term(*expr.operands[0]), b = term(*expr.operands[1]);
    if (!a || !b) {
      return std::nullopt;
    }
    bool isKnown = std::find(known.begin(), known.end(), expr.text) != known.end();
    if (!isKnown) {
      fail(expr.range, fmt::format("'{}' is not available in a constraint", expr.text))
          .withHelp("available between sizes and numbers: + - * // %");
      return std::nullopt;
    }
    if (sideOf(*a) != Side::Number || sideOf(*b) != Side::Number) {
      fail(expr.range, fmt::format("'{}' expects numbers, but got {} and {}", expr.text,
                                   text(sideOf(*a)), text(sideOf(*b))));
      return std::nullopt;
    }
    bool divides = expr.text == "//" || expr.text == "%";
    if (divides && !(isWhole(*a) && isWhole(*b))) {
      fail(expr.range, fmt::format("'{}' expects sizes and whole numbers", expr.text));
      return std::nullopt;
    }
    ConstraintTerm made;
    made.kind = Kind::Binary;
    made.name = expr.text;
    made.operands.push_back(std::move(*a));
    made.operands.push_back(std::move(*b));
    return made;
  }

  Term list(const Expr &expr) {
    ConstraintTerm made;
    made.kind = Kind::List;
    for (const language::ExprPtr &each : expr.operands) {
      Term one = term(*each);
      bool isNumber = one && sideOf(*one) == Side::Number && isWhole(*one);
      if (one && !isNumber) {
        fail(each->range, "a shape expects sizes and whole numbers");
      }
      if (!isNumber) {
        return std::nullopt;
      }
      made.operands.push_back(std::move(*one));
    }
    return made;
  }

  Operator &op;
  const ConstraintPlace &place;
  Diagnostics &diags;
};

} // namespace

bool readConstraint(Operator &op, const std::string &text, const ConstraintPlace &place,
                    Diagnostics &diags) {
  return Reader(op, place, diags).run(text);
}

} // namespace nereid::definition
