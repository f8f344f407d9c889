// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders of index expressions: rules X1 and X3, see Affine.h.
#include "lib/generator/index/Affine.h"

#include <algorithm>

namespace nereid::generator {
namespace {

struct Divided {
  Affine quotient, remainder;
};

/// value = whole · by + rest, where whole takes what `by` divides and rest the other terms.
struct Split {
  Affine whole, rest;
};

class Division {
public:
  explicit Division(const IndexSpace &space) : space(space) {}

  Divided divide(const Affine &value, const Polynomial &by) const {
    if (by.isOne()) {
      return {value, 0};
    }
    Split split = notNegative(splitBy(value, by), by);
    if (isInside(split.rest, by, space)) {
      return {split.whole, split.rest};
    }
    Divided result = withoutCommonFactor(split.rest, by);
    result.quotient = result.quotient + split.whole;
    return result;
  }

private:
  static Split splitBy(const Affine &value, const Polynomial &by) {
    auto [whole, rest] = value.constant().splitBy(by);
    auto number = by.constant();
    if (auto found = rest.terms().find({}); number && found != rest.terms().end()) {
      int64_t carry = floorDivide(found->second, *number);
      whole = whole + carry;
      rest = rest - Polynomial(carry) * *number;
    }
    Split result{whole, rest};
    for (const auto &[atom, coefficient] : value.terms()) {
      auto [times, remaining] = coefficient.splitBy(by);
      result.whole = result.whole + Affine::atom(atom, times);
      result.rest = result.rest + Affine::atom(atom, remaining);
    }
    return result;
  }

  /// X3. When the lower end is -L, ceil(L / by) multiples of `by` are enough, and L always are.
  Split notNegative(Split split, const Polynomial &by) const {
    const Symbols &symbols = space.symbols;
    Bounds bounds = boundsOf(split.rest, space);
    if (!bounds.low || symbols.isNonNegative(*bounds.low)) {
      return split;
    }
    const Polynomial below = -*bounds.low;
    Polynomial rising; // not smaller than `below`: without the terms that lower it
    for (const auto &[monomial, coefficient] : below.terms()) {
      rising = rising + Polynomial::term(monomial, std::max<int64_t>(coefficient, 0));
    }
    std::vector<Polynomial> candidates = {1, 2, below, rising};
    if (auto enough = symbols.floorDivide(below + by - 1, by)) {
      candidates.insert(candidates.begin(), *enough);
    }
    for (const Polynomial &times : candidates) {
      if (symbols.isNonNegative(*bounds.low + by * times)) {
        return withSmallConstant({split.whole - Affine(times), split.rest + Affine(by * times)},
                                 by);
      }
    }
    return split;
  }

  /// The same expression has the same form, whatever it has been: of a number, multiples go that
  /// are not needed.
  Split withSmallConstant(Split split, const Polynomial &by) const {
    const Polynomial &constant = split.rest.constant();
    auto number = by.constant();
    auto found = constant.terms().find({});
    if (!number || found == constant.terms().end()) {
      return split;
    }
    const Polynomial carry = floorDivide(found->second, *number);
    Split smaller{split.whole + Affine(carry), split.rest - Affine(carry * by)};
    return isNonNegative(smaller.rest, space) ? smaller : split;
  }

  /// The divisors g of `by` that might leave the division together with some of the terms, largest
  /// first.
  std::vector<Polynomial> factors(const Affine &value, const Polynomial &by) const {
    std::vector<Polynomial> result;
    auto propose = [&](const Polynomial &factor) {
      bool isNew = std::find(result.begin(), result.end(), factor) == result.end();
      bool isProper = !factor.constant() || *factor.constant() > 1;
      if (isNew && isProper && factor != by && by.dividedBy(factor) &&
          space.symbols.isPositive(factor)) {
        result.push_back(factor);
      }
    };
    for (const auto &[atom, coefficient] : value.terms()) {
      propose(coefficient);
      propose(-coefficient);
      propose(commonTerm(coefficient, by));
    }
    auto leading = [](const Polynomial &factor) {
      const auto &[monomial, coefficient] = *factor.terms().begin();
      return std::pair(monomial.size(), coefficient);
    };
    std::sort(result.begin(), result.end(),
              [&](const Polynomial &a, const Polynomial &b) { return leading(a) > leading(b); });
    return result;
  }

  Divided withoutCommonFactor(const Affine &value, const Polynomial &by) const {
    for (const Polynomial &factor : factors(value, by)) {
      Split split = splitBy(value, factor);
      if (isInside(split.rest, factor, space)) {
        Divided inner = divide(split.whole, *by.dividedBy(factor));
        return {inner.quotient, inner.remainder * factor + split.rest};
      }
    }
    return atoms(value, by);
  }

  Divided atoms(const Affine &value, const Polynomial &by) const {
    if (value.constant().isZero() && value.terms().size() == 1) {
      const auto &[atom, coefficient] = *value.terms().begin();
      if (coefficient.isOne() && atom.kind == Atom::Kind::Quotient) {
        // (e // m) // by = e // (m·by); the remainder keeps the quotient as its argument.
        return {divide(*atom.argument, atom.size * by).quotient,
                division(Atom::Kind::Remainder, value, by)};
      }
      std::optional<Polynomial> times = atom.size.dividedBy(by);
      if (coefficient.isOne() && atom.kind == Atom::Kind::Remainder && times) {
        // (e % (m·by)) // by = (e // by) % m and (e % (m·by)) % by = e % by
        Divided whole = divide(*atom.argument, by);
        return {divide(whole.quotient, *times).remainder, whole.remainder};
      }
    }
    return {division(Atom::Kind::Quotient, value, by), division(Atom::Kind::Remainder, value, by)};
  }

  static Affine division(Atom::Kind kind, const Affine &argument, const Polynomial &by) {
    Atom atom;
    atom.kind = kind;
    atom.argument = std::make_shared<const Affine>(argument);
    atom.size = by;
    return Affine::atom(atom);
  }

  const IndexSpace &space;
};

} // namespace

Affine floorDivide(const Affine &value, const Polynomial &by, const IndexSpace &space) {
  return Division(space).divide(value, by).quotient;
}

Affine remainder(const Affine &value, const Polynomial &by, const IndexSpace &space) {
  return Division(space).divide(value, by).remainder;
}

} // namespace nereid::generator
