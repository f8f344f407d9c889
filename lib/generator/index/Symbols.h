// SPDX-License-Identifier: Apache-2.0
// What is known of a program's symbols when its kernels are generated, and what follows from it. A
// symbol has a range and a number that divides it; facts relate several. Every rule of index
// expressions that has a condition asks `isNonNegative`, whether sizes are numbers or symbols.
//
//   Symbols symbols;
//   Polynomial n = symbols.add({"N", 1, std::nullopt, 8}); // N ≥ 1, a multiple of 8
//   symbols.isNonNegative(n - 8);                          // true: no smaller N is left
//   *n.dividedBy(4);                                       // "N/4"
//
// A symbol with a divisor d stands for its quotient by d, so that N is the polynomial d · symbol:
// divisibility is then a matter of coefficients and no rule asks for it. `text` and the program's
// reader write N again.
#pragma once

#include "lib/generator/index/Polynomial.h"

#include <string>

namespace nereid::generator {

struct Symbol {
  std::string name;
  int64_t low = 1;
  std::optional<int64_t> high = {};
  int64_t divisor = 1; ///< positive; divides every value
  /// {a, b}: the value is not brought by a launch but a // b.
  std::optional<std::pair<Polynomial, Polynomial>> quotientOf = {};
  /// The value is not brought by a launch but chosen there by this expression of its table
  /// (launch/Table.h); whatever it is, results mean the same.
  std::optional<std::string> chosenBy = {};
  bool operator==(const Symbol &) const = default;
};

class Symbols {
public:
  /// The symbol's value. Names are unique, `low` ≤ `high`.
  Polynomial add(Symbol symbol);
  /// A fact: `value` is not negative wherever the program runs.
  void assume(Polynomial value) {
    facts.push_back(std::move(value));
    proofs.clear();
  }

  /// value // by as a polynomial: of a symbol of its own where it is none otherwise, e.g. the
  /// extent of every second of N elements. Neither is negative, `by` is positive.
  Polynomial addQuotient(const Polynomial &value, const Polynomial &by,
                         const std::string &name = "");

  const std::vector<Symbol> &all() const { return list; }
  const std::vector<Polynomial> &assumptions() const { return facts; }
  /// The value of the symbol of this name.
  std::optional<Polynomial> find(const std::string &name) const;

  /// True when it is proved that no values of the symbols make it negative. False says nothing.
  /// Proofs are those of intervals: after each symbol is measured from one of its ends, no
  /// coefficient is negative, possibly after multiples of facts have been taken off.
  bool isNonNegative(const Polynomial &value) const;
  bool isPositive(const Polynomial &value) const { return isNonNegative(value - 1); }
  /// a ≤ b.
  bool isAtMost(const Polynomial &a, const Polynomial &b) const { return isNonNegative(b - a); }
  /// The quotient rounded down of `value` by `by`, where it is a polynomial; `by` is positive.
  std::optional<Polynomial> floorDivide(const Polynomial &value, const Polynomial &by) const;

  /// For Polynomial::evaluate, from the values in order of the symbols that are no quotients;
  /// nothing when one of them breaks its range, its divisor or a fact. What a launch chooses is as
  /// large as it can be.
  std::optional<std::vector<int64_t>> bind(const std::vector<int64_t> &values) const;

  /// "2*N*M/3 + 1", in the names of symbols; readable as Python.
  std::string text(const Polynomial &value) const;

private:
  bool isNonNegativeByEnds(const Polynomial &value) const;
  bool isNonNegative(const Polynomial &value, int factsAtMost) const;

  std::vector<Symbol> list;
  std::vector<Polynomial> facts;
  /// What has been asked of these facts: masks, bounds and divisions ask the same again and again.
  /// A symbol more changes none of it.
  mutable std::map<Polynomial, bool> proofs;
};

/// Rounded down, as Python does. `by` is positive.
constexpr int64_t floorDivide(int64_t value, int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

} // namespace nereid::generator
