// SPDX-License-Identifier: Apache-2.0
// Integer polynomials in the symbols of a program: sizes, strides and coefficients that are known
// when a kernel is launched. A constant is the polynomial without symbols, so that nothing above
// asks which of the two it has. What may be concluded from them, Symbols.h knows.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace nereid::generator {

using SymbolId = uint32_t;

/// The symbols of a product, ascending, one as often as it is a factor; empty: 1.
using Monomial = std::vector<SymbolId>;

/// Graded lexicographic, the leading monomial first: an order that products keep.
struct MonomialOrder {
  bool operator()(const Monomial &a, const Monomial &b) const;
};

/// What `b` lacks to be `a`; nothing when `b` does not divide `a`.
std::optional<Monomial> quotient(const Monomial &a, const Monomial &b);
Monomial product(const Monomial &a, const Monomial &b);

class Polynomial {
public:
  using Terms = std::map<Monomial, int64_t, MonomialOrder>;
  using Values = std::map<SymbolId, Polynomial>;

  Polynomial(int64_t constant = 0);
  static Polynomial symbol(SymbolId symbol);
  static Polynomial term(Monomial monomial, int64_t coefficient);

  const Terms &terms() const { return coefficients; }
  bool isZero() const { return coefficients.empty() && !overflowed; }
  bool isOne() const { return constant() == 1; }
  /// The number this is, if no symbol occurs in it.
  std::optional<int64_t> constant() const;
  /// A coefficient left 64 bits. Every result of such a one has overflowed too, is equal to nothing
  /// but its like, and nothing is proved of it.
  bool hasOverflowed() const { return overflowed; }
  std::set<SymbolId> symbols() const;

  Polynomial operator-() const;
  Polynomial operator+(const Polynomial &other) const;
  Polynomial operator-(const Polynomial &other) const { return *this + -other; }
  Polynomial operator*(const Polynomial &other) const;
  bool operator==(const Polynomial &) const = default;
  /// Any total order, the same in every run.
  std::strong_ordering operator<=>(const Polynomial &other) const;

  /// {q, r} with q · by + r = this. Terms that `by`'s leading term divides without a rest go into
  /// q, all others stay in r. r is 0 if and only if `by` divides this (and then q is the quotient).
  std::pair<Polynomial, Polynomial> splitBy(const Polynomial &by) const;
  /// q with q · by = this.
  std::optional<Polynomial> dividedBy(const Polynomial &by) const;
  /// The largest single term that divides every term; its coefficient is positive.
  Polynomial content() const;

  Polynomial substitute(const Values &values) const;
  /// The number at values[symbol]; nothing when 63 bits do not hold it or a product on the way.
  std::optional<int64_t> evaluate(std::span<const int64_t> values) const;

private:
  void add(const Monomial &monomial, int64_t coefficient);

  Terms coefficients; ///< none is 0
  bool overflowed = false;
};

/// The greatest common divisor of the contents of both.
Polynomial commonTerm(const Polynomial &a, const Polynomial &b);

} // namespace nereid::generator
