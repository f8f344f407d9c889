// SPDX-License-Identifier: Apache-2.0
// Python's rules for expressions of numbers, strings, bools and None; nothing where an operand is
// not known, or where Python would raise.
#include "lib/definition/reader/BodyConstants.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"

#include <cmath>
#include <limits>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

using Known = std::optional<BodyConstant>;

std::optional<int64_t> integerIn(const BodyConstant &value) {
  if (const bool *one = std::get_if<bool>(&value)) {
    return *one ? 1 : 0;
  }
  const int64_t *whole = std::get_if<int64_t>(&value);
  return whole ? std::optional(*whole) : std::nullopt;
}

std::optional<double> numberIn(const BodyConstant &value) {
  if (const std::optional<int64_t> whole = integerIn(value)) {
    return static_cast<double>(*whole);
  }
  const double *real = std::get_if<double>(&value);
  return real ? std::optional(*real) : std::nullopt;
}

Known arithmetic(const std::string &sign, const BodyConstant &left, const BodyConstant &right) {
  const auto a = integerIn(left), b = integerIn(right);
  const auto x = numberIn(left), y = numberIn(right);
  int64_t whole = 0;
  if (a && b && sign != "/" && sign != "**") {
    if (sign == "//" || sign == "%") {
      const std::optional<int64_t> result = floorDivided(*a, *b, sign == "%");
      return result ? Known(*result) : Known();
    }
    const bool overflows = sign == "+"   ? __builtin_add_overflow(*a, *b, &whole)
                           : sign == "-" ? __builtin_sub_overflow(*a, *b, &whole)
                           : sign == "*" ? __builtin_mul_overflow(*a, *b, &whole)
                                         : true;
    return overflows ? Known() : Known(whole);
  }
  if (a && b && sign == "**" && *b >= 0 && *b < 64) {
    whole = 1;
    for (int64_t i = 0; i < *b; ++i) {
      if (__builtin_mul_overflow(whole, *a, &whole)) {
        return std::nullopt;
      }
    }
    return whole;
  }
  if (!x || !y || (sign == "/" && *y == 0)) {
    return std::nullopt;
  }
  return sign == "+"    ? Known(*x + *y)
         : sign == "-"  ? Known(*x - *y)
         : sign == "*"  ? Known(*x * *y)
         : sign == "/"  ? Known(*x / *y)
         : sign == "**" ? Known(std::pow(*x, *y))
                        : Known();
}

bool areEqual(const BodyConstant &a, const BodyConstant &b) {
  const auto x = numberIn(a), y = numberIn(b);
  const auto whole = integerIn(a), other = integerIn(b);
  return whole && other ? *whole == *other : x && y ? *x == *y : a == b;
}

Known comparison(const std::string &sign, const BodyConstant &a, const BodyConstant &b) {
  if (sign == "==" || sign == "!=") {
    return areEqual(a, b) == (sign == "==");
  }
  const bool anyNone = std::holds_alternative<NoneValue>(a) || std::holds_alternative<NoneValue>(b);
  if (sign == "is" || sign == "is not") {
    return anyNone ? Known((a == b) == (sign == "is")) : Known();
  }
  const auto x = numberIn(a), y = numberIn(b);
  if (!x || !y) {
    return std::nullopt;
  }
  return sign == "<"    ? Known(*x < *y)
         : sign == "<=" ? Known(*x <= *y)
         : sign == ">"  ? Known(*x > *y)
         : sign == ">=" ? Known(*x >= *y)
                        : Known();
}

} // namespace

std::optional<int64_t> floorDivided(int64_t a, int64_t b, bool isRemainder) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) {
    return std::nullopt;
  }
  const int64_t rest = b == -1 ? 0 : a % b;
  const int64_t shift = rest != 0 && (rest < 0) != (b < 0) ? 1 : 0;
  return isRemainder ? rest + shift * b : a / b - shift;
}

bool isTrue(const BodyConstant &value) {
  if (const auto *text = std::get_if<std::string>(&value)) {
    return !text->empty();
  }
  const std::optional<double> number = numberIn(value);
  return number && *number != 0;
}

Known BodyConstants::constantNamed(const std::string &name) const {
  if (auto found = literals.find(name); found != literals.end()) {
    return found->second ? constantOf(*found->second) : Known(NoneValue{});
  }
  const auto number = names.find(name);
  const std::optional<int> numbered = numberedNode(name);
  if ((number == names.end() && !numbered) ||
      nodes[static_cast<size_t>(numbered ? *numbered : number->second)].op != "constant") {
    return std::nullopt;
  }
  return numberAt(numbered ? *numbered : number->second);
}

Known BodyConstants::numberAt(int number) const {
  const Node &node = nodes[static_cast<size_t>(number)];
  if (node.op != "constant") {
    return std::nullopt;
  }
  return operandKind(node) == OperandKind::Whole ? Known(integerAttribute(node, "integer", 0))
                                                 : Known(constantValue(node));
}

/// The number of dimensions of a tensor; none where it is open.
Known BodyConstants::rankOf(const Expr &tensor) const {
  const auto number = tensor.kind == ExprKind::Name ? names.find(tensor.text) : names.end();
  if (number == names.end() || isNumber(nodes[static_cast<size_t>(number->second)])) {
    return std::nullopt;
  }
  const SymbolicShape &shape = nodes[static_cast<size_t>(number->second)].shape;
  return shape.empty() || !shape[0].isRest() ? Known(static_cast<int64_t>(shape.size())) : Known();
}

/// A dimension that is a number.
Known BodyConstants::sizeOf(const Expr &tensor, const Expr &place) const {
  const auto number = tensor.kind == ExprKind::Name ? names.find(tensor.text) : names.end();
  const std::optional<int64_t> dim = integerOf(place);
  if (!dim || number == names.end() || isNumber(nodes[static_cast<size_t>(number->second)])) {
    return std::nullopt;
  }
  const SymbolicShape &shape = nodes[static_cast<size_t>(number->second)].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const bool isOpen = !shape.empty() && shape[0].isRest();
  const int64_t at = *dim < 0 ? *dim + rank : *dim;
  const bool isKnown = at >= 0 && at < rank && (!isOpen || *dim < 0);
  return isKnown && shape[static_cast<size_t>(at)].symbol.empty()
             ? Known(shape[static_cast<size_t>(at)].constant)
             : Known();
}

std::optional<int> BodyConstants::numberedNode(const std::string &name) const {
  return name.starts_with("#") ? std::optional(std::stoi(name.substr(1))) : std::nullopt;
}

language::ExprPtr BodyConstants::entry(int node, SourceRange range) const {
  const Node &value = nodes[static_cast<size_t>(node)];
  auto made = std::make_unique<Expr>();
  made->range = range;
  const bool isWhole = value.op == "constant" && operandKind(value) == OperandKind::Whole;
  const int64_t number = isWhole ? integerAttribute(value, "integer", 0) : 0;
  if (isWhole && number >= 0) {
    made->kind = ExprKind::Integer;
    made->integer = number;
    made->text = std::to_string(number);
    return made;
  }
  if (isWhole && number > INT64_MIN) {
    auto inner = std::make_unique<Expr>();
    inner->kind = ExprKind::Integer;
    inner->range = range;
    inner->integer = -number;
    inner->text = std::to_string(-number);
    made->kind = ExprKind::Unary;
    made->text = "-";
    made->operands.push_back(std::move(inner));
    return made;
  }
  made->kind = ExprKind::Name;
  made->text = "#" + std::to_string(node);
  return made;
}

Known BodyConstants::constantOf(const Expr &expr) const {
  std::vector<BodyConstant> in;
  const bool isOperation = expr.kind == ExprKind::Unary || expr.kind == ExprKind::Binary ||
                           expr.kind == ExprKind::Compare;
  for (size_t i = 0; isOperation && i < expr.operands.size(); ++i) {
    Known operand;
    if (expr.text == "is" || expr.text == "is not") { // a tensor is not None
      const Expr &each = *expr.operands[i];
      const bool isTensor = each.kind == ExprKind::Name && names.count(each.text) != 0;
      operand = isTensor ? Known(int64_t{0}) : constantOf(each);
    } else {
      operand = constantOf(*expr.operands[i]);
    }
    if (!operand) {
      return std::nullopt;
    }
    in.push_back(std::move(*operand));
  }
  switch (expr.kind) {
  case ExprKind::Integer:
    return expr.integer < 0 ? Known() : Known(expr.integer);
  case ExprKind::Float:
    return expr.real;
  case ExprKind::String:
    return expr.text;
  case ExprKind::Bool:
    return expr.integer != 0;
  case ExprKind::None:
    return NoneValue{};
  case ExprKind::Name:
    return constantNamed(expr.text);
  case ExprKind::Unary:
    return expr.text == "not" ? Known(!isTrue(in[0]))
           : expr.text == "-" ? arithmetic("-", int64_t{0}, in[0])
           : expr.text == "+" ? arithmetic("+", int64_t{0}, in[0])
                              : Known();
  case ExprKind::Binary:
    return arithmetic(expr.text, in[0], in[1]);
  case ExprKind::Compare:
    return comparison(expr.text, in[0], in[1]);
  case ExprKind::And:
  case ExprKind::Or: {
    Known last;
    for (const language::ExprPtr &operand : expr.operands) { // what follows need not be known
      last = constantOf(*operand);
      if (!last || isTrue(*last) == (expr.kind == ExprKind::Or)) {
        return last;
      }
    }
    return last;
  }
  case ExprKind::Conditional: {
    const Known condition = constantOf(*expr.operands[0]);
    return condition ? constantOf(*expr.operands[isTrue(*condition) ? 1 : 2]) : Known();
  }
  case ExprKind::Attribute:
    return expr.text == "ndim" ? rankOf(*expr.operands[0]) : Known();
  case ExprKind::Call: {
    const Expr &callee = *expr.operands[0];
    const bool isMethod = callee.kind == ExprKind::Attribute && expr.keywords.empty();
    if (isMethod && callee.text == "size" && expr.operands.size() == 2) {
      return sizeOf(*callee.operands[0], *expr.operands[1]);
    }
    if (callee.kind == ExprKind::Name && callee.text == "len" && expr.operands.size() == 2) {
      const std::optional<int64_t> length = lengthOf ? lengthOf(*expr.operands[1]) : std::nullopt;
      return length ? Known(*length) : Known();
    }
    const bool isRank = isMethod && callee.text == "dim" && expr.operands.size() == 1;
    return isRank ? rankOf(*callee.operands[0]) : Known();
  }
  case ExprKind::Subscript: {
    const Expr &of = *expr.operands[0];
    const bool isShape = of.kind == ExprKind::Attribute && of.text == "shape";
    if (isShape) {
      return sizeOf(*of.operands[0], *expr.operands[1]);
    }
    if (const Expr *list = literalNamed(of)) { // dims = (1, 2)
      const auto count = static_cast<int64_t>(list->operands.size());
      const std::optional<int64_t> at = integerOf(*expr.operands[1]);
      const int64_t place = at.value_or(0) < 0 ? *at + count : at.value_or(count);
      return place >= 0 && place < count ? constantOf(*list->operands[static_cast<size_t>(place)])
                                         : Known();
    }
    const std::optional<int> entry = entryOf ? entryOf(expr) : std::nullopt;
    return entry ? numberAt(*entry) : Known();
  }
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> literalInteger(const Expr &expr) {
  if (expr.kind == ExprKind::Integer) {
    return expr.integer;
  }
  bool isMinus = expr.kind == ExprKind::Unary && expr.text == "-";
  if (isMinus && expr.operands[0]->kind == ExprKind::Integer) {
    return -expr.operands[0]->integer;
  }
  return std::nullopt;
}

std::optional<int64_t> BodyConstants::integerOf(const Expr &expr) const {
  if (const std::optional<int64_t> literal = literalInteger(expr)) {
    return literal;
  }
  const Known value = constantOf(expr);
  const int64_t *whole = value ? std::get_if<int64_t>(&*value) : nullptr;
  return whole ? std::optional(*whole) : std::nullopt;
}

Expr *BodyConstants::keep(ExprKind kind, SourceRange range) {
  kept.push_back(std::make_unique<Expr>());
  kept.back()->kind = kind;
  kept.back()->range = range;
  return kept.back().get();
}

/// As it would be written: -1 is the minus of 1.
const Expr *BodyConstants::integerLiteral(int64_t value, SourceRange range) {
  if (value < 0 && value != std::numeric_limits<int64_t>::min()) {
    auto positive = std::make_unique<Expr>();
    positive->kind = ExprKind::Integer;
    positive->range = range;
    positive->integer = -value;
    positive->text = std::to_string(-value);
    Expr *minus = keep(ExprKind::Unary, range);
    minus->text = "-";
    minus->operands.push_back(std::move(positive));
    return minus;
  }
  Expr *made = keep(ExprKind::Integer, range);
  made->integer = value;
  made->text = std::to_string(value);
  return made;
}

const Expr *BodyConstants::literalNamed(const Expr &name) const {
  const auto found = name.kind == ExprKind::Name ? literals.find(name.text) : literals.end();
  return found == literals.end() ? nullptr : found->second;
}

const Expr *BodyConstants::literalOf(const Expr &expr) {
  if (const Expr *given = literalNamed(expr)) {
    return given;
  }
  if (expr.kind == ExprKind::Tuple || expr.kind == ExprKind::List) {
    Expr *list = keep(expr.kind, expr.range);
    for (const language::ExprPtr &entry : expr.operands) {
      const std::optional<int64_t> number = integerOf(*entry);
      auto made = std::make_unique<Expr>();
      made->kind = number ? ExprKind::Integer : entry->kind;
      made->range = entry->range;
      made->text = number ? std::to_string(*number) : entry->text; // a size stays its name
      made->integer = number.value_or(0);
      if (!number && entry->kind != ExprKind::Name) {
        return nullptr;
      }
      list->operands.push_back(std::move(made));
    }
    return list;
  }
  const Known value = constantOf(expr);
  if (!value) {
    return nullptr;
  }
  if (const bool *truth = std::get_if<bool>(&*value)) {
    Expr *made = keep(ExprKind::Bool, expr.range);
    made->integer = *truth ? 1 : 0;
    return made;
  }
  if (const auto *text = std::get_if<std::string>(&*value)) {
    Expr *made = keep(ExprKind::String, expr.range);
    made->text = *text;
    return made;
  }
  return std::holds_alternative<NoneValue>(*value) ? keep(ExprKind::None, expr.range) : nullptr;
}

} // namespace nereid::definition
