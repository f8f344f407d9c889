// SPDX-License-Identifier: Apache-2.0
// Arithmetic of polynomials, see Polynomial.h.
#include "lib/generator/index/Polynomial.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace nereid::generator {

bool MonomialOrder::operator()(const Monomial &a, const Monomial &b) const {
  return a.size() != b.size() ? a.size() > b.size() : a < b;
}

std::optional<Monomial> quotient(const Monomial &a, const Monomial &b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end())) {
    return std::nullopt;
  }
  Monomial rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

Monomial product(const Monomial &a, const Monomial &b) {
  Monomial result;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Polynomial::Polynomial(int64_t constant) { add({}, constant); }

Polynomial Polynomial::symbol(SymbolId symbol) { return term({symbol}, 1); }

Polynomial Polynomial::term(Monomial monomial, int64_t coefficient) {
  Polynomial result;
  result.add(monomial, coefficient);
  return result;
}

void Polynomial::add(const Monomial &monomial, int64_t coefficient) {
  if (coefficient == 0) {
    return;
  }
  auto [at, isNew] = coefficients.emplace(monomial, coefficient);
  if (isNew) {
    return;
  }
  overflowed |= __builtin_add_overflow(at->second, coefficient, &at->second);
  if (at->second == 0) {
    coefficients.erase(at);
  }
}

std::optional<int64_t> Polynomial::constant() const {
  if (overflowed || coefficients.size() > 1) {
    return std::nullopt;
  }
  if (coefficients.empty()) {
    return 0;
  }
  const auto &[monomial, coefficient] = *coefficients.begin();
  return monomial.empty() ? std::optional(coefficient) : std::nullopt;
}

std::set<SymbolId> Polynomial::symbols() const {
  std::set<SymbolId> result;
  for (const auto &[monomial, coefficient] : coefficients) {
    result.insert(monomial.begin(), monomial.end());
  }
  return result;
}

Polynomial Polynomial::operator-() const { return *this * -1; }

Polynomial Polynomial::operator+(const Polynomial &other) const {
  Polynomial result = *this;
  result.overflowed |= other.overflowed;
  for (const auto &[monomial, coefficient] : other.coefficients) {
    result.add(monomial, coefficient);
  }
  return result;
}

Polynomial Polynomial::operator*(const Polynomial &other) const {
  Polynomial result;
  result.overflowed = overflowed || other.overflowed;
  for (const auto &[a, x] : coefficients) {
    for (const auto &[b, y] : other.coefficients) {
      int64_t coefficient = 0;
      result.overflowed |= __builtin_mul_overflow(x, y, &coefficient);
      result.add(product(a, b), coefficient);
    }
  }
  return result;
}

std::strong_ordering Polynomial::operator<=>(const Polynomial &other) const {
  if (auto order = overflowed <=> other.overflowed; order != 0) {
    return order;
  }
  return std::lexicographical_compare_three_way(coefficients.begin(), coefficients.end(),
                                                other.coefficients.begin(),
                                                other.coefficients.end());
}

std::pair<Polynomial, Polynomial> Polynomial::splitBy(const Polynomial &by) const {
  if (by.coefficients.empty() || by.overflowed || overflowed) {
    return {Polynomial(), *this};
  }
  const auto &[leading, divisor] = *by.coefficients.begin();
  Polynomial parts, rest, work = *this;
  while (!work.coefficients.empty()) {
    auto [monomial, coefficient] = *work.coefficients.begin();
    std::optional<Monomial> factor = quotient(monomial, leading);
    bool isQuotientLarge = divisor == -1 && coefficient == INT64_MIN;
    if (factor && !isQuotientLarge && coefficient % divisor == 0) {
      Polynomial part = term(*factor, coefficient / divisor);
      parts = parts + part;
      work = work - part * by;
    } else {
      rest.add(monomial, coefficient);
      work.coefficients.erase(work.coefficients.begin());
    }
    if (work.overflowed || parts.overflowed) {
      return {Polynomial(), *this};
    }
  }
  return {parts, rest};
}

std::optional<Polynomial> Polynomial::dividedBy(const Polynomial &by) const {
  auto [parts, rest] = splitBy(by);
  return rest.isZero() && !by.isZero() ? std::optional(parts) : std::nullopt;
}

Polynomial Polynomial::content() const {
  if (coefficients.empty() || overflowed) {
    return 1;
  }
  Monomial common = coefficients.begin()->first;
  uint64_t divisor = 0;
  for (const auto &[monomial, coefficient] : coefficients) {
    Monomial both;
    std::set_intersection(common.begin(), common.end(), monomial.begin(), monomial.end(),
                          std::back_inserter(both));
    common = std::move(both);
    uint64_t size =
        coefficient < 0 ? -static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
    divisor = std::gcd(divisor, size);
  }
  return term(common, divisor > INT64_MAX ? 1 : static_cast<int64_t>(divisor));
}

Polynomial commonTerm(const Polynomial &a, const Polynomial &b) {
  // The content of a sum with terms of both, kept apart by a symbol that neither has.
  const Polynomial apart = Polynomial::symbol(UINT32_MAX);
  Polynomial both = a.content() + b.content() * apart;
  return both.content();
}

Polynomial Polynomial::substitute(const Values &values) const {
  Polynomial result;
  result.overflowed = overflowed;
  for (const auto &[monomial, coefficient] : coefficients) {
    Polynomial product(coefficient);
    for (SymbolId symbol : monomial) {
      auto found = values.find(symbol);
      product = product * (found == values.end() ? Polynomial::symbol(symbol) : found->second);
    }
    result = result + product;
  }
  return result;
}

std::optional<int64_t> Polynomial::evaluate(std::span<const int64_t> values) const {
  bool isTooLarge = overflowed;
  int64_t sum = 0;
  for (const auto &[monomial, coefficient] : coefficients) {
    int64_t product = coefficient;
    for (SymbolId symbol : monomial) {
      isTooLarge |= __builtin_mul_overflow(product, values[symbol], &product);
    }
    isTooLarge |= __builtin_add_overflow(sum, product, &sum);
  }
  return isTooLarge ? std::nullopt : std::optional(sum);
}

} // namespace nereid::generator
