// SPDX-License-Identifier: Apache-2.0
// Names, sizes and index expressions, see ReadExpression.h.
#include "lib/generator/program/ReadExpression.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator::text {

using language::Expr;
using language::ExprKind;

void refuse(const Expr &at, std::string message) { throw Complaint{at.range, std::move(message)}; }

bool isCall(const Expr &e) {
  return e.kind == ExprKind::Call && e.operands[0]->kind == ExprKind::Name;
}
const std::string &callee(const Expr &call) { return call.operands[0]->text; }
const Expr &argument(const Expr &call, size_t number) {
  if (call.operands.size() < number + 2) {
    refuse(call, fmt::format("expects an argument number {}", number + 1));
  }
  return *call.operands[number + 1];
}
const Expr *keyword(const Expr &call, const std::string &name) {
  auto found = std::find_if(call.keywords.begin(), call.keywords.end(),
                            [&](const auto &each) { return each.name == name; });
  return found == call.keywords.end() ? nullptr : found->value.get();
}
bool isSet(const Expr &call, const std::string &name, bool otherwise) {
  const Expr *value = keyword(call, name);
  return value ? value->integer != 0 : otherwise;
}
std::string string(const Expr &e) {
  if (e.kind != ExprKind::String) {
    refuse(e, "expects a string");
  }
  return e.text;
}
DType dtype(const Expr &e) {
  std::optional<DType> type = parseDType(e.text);
  if (e.kind != ExprKind::Name || !type) {
    refuse(e, "expects an element type, such as fp32");
  }
  return *type;
}
std::vector<const Expr *> elements(const Expr &e) {
  std::vector<const Expr *> result;
  if (e.kind == ExprKind::Tuple || e.kind == ExprKind::List) {
    for (const language::ExprPtr &each : e.operands) {
      result.push_back(each.get());
    }
  } else {
    result.push_back(&e);
  }
  return result;
}

BufferId ExpressionReader::buffer(const Expr &e) const {
  std::optional<BufferId> id = program.find(e.text);
  if (e.kind != ExprKind::Name || !id) {
    refuse(e, "expects the name of a buffer");
  }
  return *id;
}
IteratorId ExpressionReader::iterator(const Expr &e) const {
  std::optional<IteratorId> id = program.space.iterators.find(e.text);
  if (e.kind != ExprKind::Name || !id) {
    refuse(e, "expects the name of an iterator");
  }
  return *id;
}
int64_t ExpressionReader::integer(const Expr &e) {
  std::optional<int64_t> value = polynomial(e).constant();
  if (!value) {
    refuse(e, "expects a number");
  }
  return *value;
}
Polynomial ExpressionReader::polynomial(const Expr &e) {
  Affine value = affine(e);
  if (!value.isConstant()) {
    refuse(e, "expects a polynomial in sizes");
  }
  return value.constant();
}
std::vector<Polynomial> ExpressionReader::polynomials(const Expr &e) {
  std::vector<Polynomial> result;
  for (const Expr *each : elements(e)) {
    result.push_back(polynomial(*each));
  }
  return result;
}
std::vector<Affine> ExpressionReader::indices(const Expr &e) {
  std::vector<Affine> result;
  for (const Expr *each : elements(e)) {
    result.push_back(affine(*each));
  }
  return result;
}

Affine ExpressionReader::affine(const Expr &e) {
  if (e.kind == ExprKind::Integer) {
    return e.integer;
  }
  if (e.kind == ExprKind::Name) {
    if (auto id = program.space.iterators.find(e.text)) {
      return Affine::iterator(*id);
    }
    if (auto size = program.space.symbols.find(e.text)) {
      return *size;
    }
    if (auto found = quotients.find(e.text); found != quotients.end()) {
      return found->second;
    }
    refuse(e, fmt::format("'{}' is neither an iterator nor a size", e.text));
  }
  if (e.kind == ExprKind::Unary && e.text == "-") {
    return affine(*e.operands[0]) * -1;
  }
  if (isCall(e) && callee(e) == "data") {
    return Affine::data(value(argument(e, 0)), polynomial(argument(e, 1)));
  }
  if (e.kind != ExprKind::Binary) {
    refuse(e, "expects an index expression");
  }
  Affine a = affine(*e.operands[0]), b = affine(*e.operands[1]);
  if (e.text == "+" || e.text == "-") {
    return e.text == "+" ? a + b : a - b;
  }
  if (e.text == "*" && (a.isConstant() || b.isConstant())) {
    return b.isConstant() ? a * b.constant() : b * a.constant();
  }
  if (e.text == "/" && a.isConstant() && b.isConstant()) {
    if (auto exact = a.constant().dividedBy(b.constant())) {
      return *exact;
    }
    refuse(e, "expects a size that is divisible");
  }
  bool isDivision = e.text == "//" || e.text == "%";
  if (isDivision && b.isConstant() && program.space.symbols.isPositive(b.constant())) {
    return e.text == "//" ? floorDivide(a, b.constant(), program.space)
                          : remainder(a, b.constant(), program.space);
  }
  refuse(e, fmt::format("'{}' of these is no index expression", e.text));
}

} // namespace nereid::generator::text
