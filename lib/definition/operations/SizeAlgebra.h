// SPDX-License-Identifier: Apache-2.0
// Sizes that are computed of others: "N - 1", "(N + 1) // 2", "2 * H * W". Each is a polynomial in
// symbols and quotients with one spelling, so that equal dimensions are equal texts: a Dim whose
// `symbol` is no name holds such a text.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::language {
struct Expr;
}

namespace nereid::definition {

class SizePolynomial {
public:
  /// The factors of a product, ascending: names, and quotients such as "((N + 1) // 2)".
  using Product = std::vector<std::string>;

  SizePolynomial(int64_t constant = 0);
  static SizePolynomial symbol(const std::string &name);
  static SizePolynomial of(const Dim &dim);

  SizePolynomial operator+(const SizePolynomial &other) const;
  SizePolynomial operator-(const SizePolynomial &other) const { return *this + other * -1; }
  SizePolynomial operator*(const SizePolynomial &other) const;
  bool operator==(const SizePolynomial &) const = default;
  /// Rounded down; `by` is positive.
  SizePolynomial floorDivide(int64_t by) const;
  /// The same by a size, which is not 0.
  SizePolynomial floorDivide(const SizePolynomial &by) const;
  /// The quotient where `by` divides this without a rest for all values.
  std::optional<SizePolynomial> dividedBy(const SizePolynomial &by) const;

  /// The number this is, if no symbol occurs in it.
  std::optional<int64_t> constant() const;
  /// A coefficient left 64 bits: nothing may be said of it.
  bool hasOverflowed() const { return overflowed; }
  /// Never negative, whatever sizes the symbols are, as no coefficient is.
  bool isNeverNegative() const;
  /// "N - 1"; "0" when there is nothing.
  std::string text() const;
  Dim dim() const;
  /// The terms, whose sum it is.
  std::vector<SizePolynomial> summands() const;
  /// The quotients among its factors, as their texts: "Q // H".
  std::vector<std::string> quotients() const;
  /// Both without the factors that they share, where each is one product.
  static std::optional<std::pair<SizePolynomial, SizePolynomial>>
  cancelled(const SizePolynomial &a, const SizePolynomial &b);
  /// That this is not negative, as a relation without differences: "N >= M + 1".
  std::string comparison() const;

private:
  void add(const Product &product, int64_t coefficient);

  std::map<Product, int64_t> terms; ///< none is 0
  bool overflowed = false;
};

/// A name that a definition may declare; other texts of dimensions are computed.
bool isSizeName(std::string_view text);
/// Sums, differences, products, quotients and remainders.
std::optional<SizePolynomial> sizePolynomial(const language::Expr &expr);
std::optional<SizePolynomial> sizePolynomial(const std::string &text);

} // namespace nereid::definition
