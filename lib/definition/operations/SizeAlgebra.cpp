// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/SizeAlgebra.h"

#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <tuple>

namespace nereid::definition {
namespace {

using language::Expr;
using language::ExprKind;
using Result = std::optional<SizePolynomial>;

int64_t floorOf(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

Result binary(const std::string &text, const SizePolynomial &a, const SizePolynomial &b) {
  if (text == "+") {
    return a + b;
  }
  if (text == "-") {
    return a - b;
  }
  if (text == "*") {
    return a * b;
  }
  const std::optional<int64_t> by = b.constant();
  if (by.value_or(1) <= 0 || b.hasOverflowed() || (text != "//" && text != "%")) {
    return std::nullopt;
  }
  const SizePolynomial quotient = a.floorDivide(b);
  return text == "//" ? quotient : a - quotient * b;
}

} // namespace

bool isSizeName(std::string_view text) {
  const auto isPart = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), isPart);
}

SizePolynomial::SizePolynomial(int64_t constant) { add({}, constant); }

SizePolynomial SizePolynomial::symbol(const std::string &name) {
  SizePolynomial result;
  result.add({name}, 1);
  return result;
}

SizePolynomial SizePolynomial::of(const Dim &dim) {
  if (dim.symbol.empty()) {
    return dim.constant;
  }
  return isSizeName(dim.symbol) ? symbol(dim.symbol)
                                : sizePolynomial(dim.symbol).value_or(symbol(dim.symbol));
}

void SizePolynomial::add(const Product &product, int64_t coefficient) {
  int64_t &own = terms[product];
  overflowed |= __builtin_add_overflow(own, coefficient, &own);
  if (own == 0) {
    terms.erase(product);
  }
}

SizePolynomial SizePolynomial::operator+(const SizePolynomial &other) const {
  SizePolynomial result = *this;
  result.overflowed |= other.overflowed;
  for (const auto &[product, coefficient] : other.terms) {
    result.add(product, coefficient);
  }
  return result;
}

SizePolynomial SizePolynomial::operator*(const SizePolynomial &other) const {
  SizePolynomial result;
  result.overflowed = overflowed || other.overflowed;
  for (const auto &[a, first] : terms) {
    for (const auto &[b, second] : other.terms) {
      Product product = a;
      product.insert(product.end(), b.begin(), b.end());
      std::sort(product.begin(), product.end());
      int64_t coefficient = 0;
      result.overflowed |= __builtin_mul_overflow(first, second, &coefficient);
      result.add(product, coefficient);
    }
  }
  return result;
}

/// Multiples of `by` leave the quotient, what stays in it has coefficients below `by`.
SizePolynomial SizePolynomial::floorDivide(int64_t by) const {
  SizePolynomial whole, rest;
  for (const auto &[product, coefficient] : terms) {
    const int64_t quotient = floorOf(coefficient, by);
    whole.add(product, quotient);
    rest.add(product, coefficient - quotient * by);
  }
  whole.overflowed = overflowed;
  if (rest.constant()) { // smaller than `by`
    return whole;
  }
  return whole + symbol(fmt::format("({} // {})",
                                    rest.terms.size() == 1 && rest.terms.begin()->second == 1 &&
                                            rest.terms.begin()->first.size() == 1
                                        ? rest.terms.begin()->first[0]
                                        : "(" + rest.text() + ")",
                                    by));
}

/// "(Q // H)" with parentheses around sums and products.
SizePolynomial SizePolynomial::floorDivide(const SizePolynomial &by) const {
  if (const std::optional<int64_t> number = by.constant()) {
    return floorDivide(*number);
  }
  if (const auto exact = dividedBy(by)) {
    return *exact;
  }
  const auto operand = [](const SizePolynomial &size) {
    const std::string text = size.text();
    return isSizeName(text) || size.constant() ? text : "(" + text + ")";
  };
  SizePolynomial result = symbol(fmt::format("({} // {})", operand(*this), operand(by)));
  result.overflowed = overflowed || by.overflowed;
  return result;
}

std::optional<SizePolynomial> SizePolynomial::dividedBy(const SizePolynomial &by) const {
  if (by.terms.empty() || overflowed || by.overflowed) {
    return std::nullopt;
  }
  SizePolynomial rest = *this, quotient;
  const auto &[leading, factor] = *by.terms.rbegin();
  while (!rest.terms.empty()) {
    const auto [product, coefficient] = *rest.terms.rbegin();
    Product missing;
    std::set_difference(product.begin(), product.end(), leading.begin(), leading.end(),
                        std::back_inserter(missing));
    const bool divides = missing.size() + leading.size() == product.size() &&
                         coefficient % factor == 0 && !rest.overflowed;
    if (!divides || quotient.terms.contains(missing)) {
      return std::nullopt;
    }
    SizePolynomial step;
    step.add(missing, coefficient / factor);
    quotient = quotient + step;
    rest = rest - step * by;
  }
  return quotient;
}

std::optional<int64_t> SizePolynomial::constant() const {
  if (overflowed || terms.size() > 1 || (terms.size() == 1 && !terms.begin()->first.empty())) {
    return std::nullopt;
  }
  return terms.empty() ? 0 : terms.begin()->second;
}

bool SizePolynomial::isNeverNegative() const {
  return !overflowed &&
         std::all_of(terms.begin(), terms.end(), [](const auto &term) { return term.second >= 0; });
}

std::string SizePolynomial::text() const {
  std::vector<std::pair<Product, int64_t>> ordered(terms.begin(), terms.end());
  const auto key = [](const auto &term) { // the highest degree first, what is taken off last
    return std::tuple(-static_cast<int64_t>(term.first.size()), term.second < 0, term.first);
  };
  std::sort(ordered.begin(), ordered.end(),
            [&](const auto &a, const auto &b) { return key(a) < key(b); });
  if (ordered.size() == 1 && ordered[0].second == 1 && ordered[0].first.size() == 1 &&
      !isSizeName(ordered[0].first[0])) { // a quotient alone needs no parentheses
    const std::string &quotient = ordered[0].first[0];
    return quotient.front() == '(' ? quotient.substr(1, quotient.size() - 2) : quotient;
  }
  std::string text;
  for (const auto &[product, coefficient] : ordered) {
    const uint64_t size = coefficient < 0 ? 0 - static_cast<uint64_t>(coefficient)
                                          : static_cast<uint64_t>(coefficient);
    text += text.empty() ? (coefficient < 0 ? "-" : "") : (coefficient < 0 ? " - " : " + ");
    const std::string factors = fmt::format("{}", fmt::join(product, " * "));
    text += product.empty() ? std::to_string(size)
            : size == 1     ? factors
                            : fmt::format("{} * {}", size, factors);
  }
  return text.empty() ? "0" : text;
}

std::vector<SizePolynomial> SizePolynomial::summands() const {
  std::vector<SizePolynomial> list;
  for (const auto &[product, coefficient] : terms) {
    list.emplace_back(0).add(product, coefficient);
    list.back().overflowed = overflowed;
  }
  return list;
}

std::vector<std::string> SizePolynomial::quotients() const {
  std::vector<std::string> found;
  for (const auto &[product, coefficient] : terms) {
    for (const std::string &factor : product) {
      const std::string inner = factor.front() == '(' ? factor.substr(1, factor.size() - 2) : "";
      if (!inner.empty() && std::find(found.begin(), found.end(), inner) == found.end()) {
        found.push_back(inner);
      }
    }
  }
  return found;
}

std::optional<std::pair<SizePolynomial, SizePolynomial>>
SizePolynomial::cancelled(const SizePolynomial &a, const SizePolynomial &b) {
  if (a.terms.size() != 1 || b.terms.size() != 1 || a.overflowed || b.overflowed) {
    return std::nullopt;
  }
  const auto &[left, first] = *a.terms.begin();
  const auto &[right, second] = *b.terms.begin();
  Product ofLeft, ofRight;
  std::set_difference(left.begin(), left.end(), right.begin(), right.end(),
                      std::back_inserter(ofLeft));
  std::set_difference(right.begin(), right.end(), left.begin(), left.end(),
                      std::back_inserter(ofRight));
  const int64_t common = std::gcd(first, second);
  std::pair<SizePolynomial, SizePolynomial> result;
  result.first.add(ofLeft, first / common);
  result.second.add(ofRight, second / common);
  return result;
}

std::string SizePolynomial::comparison() const {
  SizePolynomial larger, smaller;
  for (const auto &[product, coefficient] : terms) {
    (coefficient > 0 ? larger : smaller).add(product, coefficient);
  }
  return fmt::format("{} >= {}", larger.text(), (smaller * -1).text());
}

Dim SizePolynomial::dim() const {
  const std::optional<int64_t> number = constant();
  return number ? Dim{"", *number} : Dim{text(), 0};
}

std::optional<SizePolynomial> sizePolynomial(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Integer:
    return expr.integer < 0 ? std::nullopt : Result(expr.integer);
  case ExprKind::Name:
    return SizePolynomial::symbol(expr.text);
  case ExprKind::Unary: {
    const Result operand = sizePolynomial(*expr.operands[0]);
    return operand && expr.text == "-"   ? Result(*operand * -1)
           : operand && expr.text == "+" ? operand
                                         : std::nullopt;
  }
  case ExprKind::Binary: {
    const Result a = sizePolynomial(*expr.operands[0]), b = sizePolynomial(*expr.operands[1]);
    Result result = a && b ? binary(expr.text, *a, *b) : std::nullopt;
    return result && !result->hasOverflowed() ? result : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

std::optional<SizePolynomial> sizePolynomial(const std::string &text) {
  Diagnostics diags;
  const language::ExprPtr expr = language::parseExpression("size", text, diags);
  return expr && diags.all().empty() ? sizePolynomial(*expr) : std::nullopt;
}

} // namespace nereid::definition
