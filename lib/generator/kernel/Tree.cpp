// SPDX-License-Identifier: Apache-2.0
// Makes trees, see Tree.h.
#include "lib/generator/kernel/Tree.h"

#include <fmt/format.h>

#include <cmath>

namespace nereid::generator::kernel {

Expr::Expr(ExprNode made) : node(std::make_shared<const ExprNode>(std::move(made))) {}

Expr::Expr(int64_t number) { *this = integer(std::to_string(number)); }

Expr integer(const std::string &digits) {
  const bool isNegative = digits.starts_with('-');
  Expr magnitude(ExprNode{ExprKind::Number, digits.substr(isNegative ? 1 : 0)});
  return isNegative ? unary("-", magnitude) : magnitude;
}

Expr name(std::string text) { return Expr(ExprNode{ExprKind::Name, std::move(text)}); }

Expr real(double value) {
  if (std::isnan(value)) {
    return call("float", {string("nan")});
  }
  Expr magnitude;
  if (std::isinf(value)) {
    magnitude = call("float", {string("inf")});
  } else {
    std::string digits = fmt::format("{}", std::fabs(value));
    digits += digits.find_first_of(".e") == std::string::npos ? ".0" : "";
    magnitude = Expr(ExprNode{ExprKind::Number, digits});
  }
  return std::signbit(value) ? unary("-", magnitude) : magnitude;
}

Expr string(std::string text) { return Expr(ExprNode{ExprKind::String, std::move(text)}); }

Expr tuple(std::vector<Expr> elements) {
  return Expr(ExprNode{ExprKind::Tuple, "", std::move(elements)});
}

Expr unary(std::string sign, Expr x) {
  return Expr(ExprNode{ExprKind::Unary, std::move(sign), {std::move(x)}});
}

Expr binary(std::string sign, Expr a, Expr b) {
  return Expr(ExprNode{ExprKind::Binary, std::move(sign), {std::move(a), std::move(b)}});
}

Expr choice(Expr value, Expr condition, Expr otherwise) {
  return Expr(ExprNode{
      ExprKind::Choice, "", {std::move(value), std::move(condition), std::move(otherwise)}});
}

Expr call(Expr callee, std::vector<Argument> arguments) {
  ExprNode node{ExprKind::Call, "", {std::move(callee)}};
  for (Argument &argument : arguments) {
    node.operands.push_back(std::move(argument.value));
    if (!argument.keyword.empty()) {
      node.keywords.push_back(std::move(argument.keyword));
    }
  }
  return Expr(std::move(node));
}

Expr call(const std::string &function, std::vector<Argument> arguments) {
  return call(name(function), std::move(arguments));
}

Expr member(Expr base, std::string text) {
  return Expr(ExprNode{ExprKind::Member, std::move(text), {std::move(base)}});
}

Expr method(Expr base, std::string text, std::vector<Argument> arguments) {
  return call(member(std::move(base), std::move(text)), std::move(arguments));
}

Expr axis(Expr vector, unsigned axis, unsigned rank) {
  return Expr(ExprNode{ExprKind::Axis, "", {std::move(vector)}, {}, axis, rank});
}

// ---- statements ----

void Body::assign(const std::string &name, Expr value, const std::string &annotation) {
  add({StatementKind::Assign, name, "", annotation, std::move(value)});
}

void Body::update(const std::string &name, const std::string &sign, Expr value) {
  add({StatementKind::Update, name, sign, "", std::move(value)});
}

void Body::evaluate(Expr value) { add({StatementKind::Evaluate, "", "", "", std::move(value)}); }

void Body::select(const std::string &name, Expr subject, std::vector<std::pair<Expr, Expr>> cases) {
  add({StatementKind::Select, name, "", "tl.constexpr", std::move(subject), std::move(cases)});
}

void Body::comment(const std::string &text) { add({StatementKind::Comment, "", text}); }

void Body::result(Expr value) { add({StatementKind::Return, "", "", "", std::move(value)}); }

void Body::loop(const std::string &name, Expr iterable, const std::function<void()> &inside) {
  Block body = within(inside);
  add({StatementKind::For, name, "", "", std::move(iterable), {}, std::move(body)});
}

void Body::when(Expr condition, const std::function<void()> &inside,
                const std::function<void()> &otherwise) {
  Block body = within(inside), other = otherwise ? within(otherwise) : Block{};
  add({StatementKind::If, "", "", "", std::move(condition), {}, std::move(body), std::move(other)});
}

Block Body::within(const std::function<void()> &inside) {
  open.emplace_back();
  inside();
  Block made = std::move(open.back());
  open.pop_back();
  return made;
}

void Body::outside(const std::function<void()> &write) {
  Block inner = std::move(open.back());
  open.pop_back();
  write();
  open.push_back(std::move(inner));
}

void Body::enclose(const std::string &name, const std::function<Expr()> &before) {
  Block inside = take();
  Expr iterable = before();
  add({StatementKind::For, name, "", "", std::move(iterable), {}, std::move(inside)});
}

Block Body::take() {
  Block made = std::move(open.front());
  open.assign(1, {});
  return made;
}

} // namespace nereid::generator::kernel
