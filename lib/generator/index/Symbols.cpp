// SPDX-License-Identifier: Apache-2.0
// Proofs about symbols, see Symbols.h.
#include "lib/generator/index/Symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nereid::generator {
namespace {

/// More symbols with an upper end than this are measured from their lower ends alone.
constexpr size_t endsAtMost = 5;
/// A proof uses so many facts.
constexpr int factsAtMost = 2;

bool hasNoNegative(const Polynomial &value) {
  return std::all_of(value.terms().begin(), value.terms().end(),
                     [](const auto &term) { return term.second >= 0; });
}

int64_t lowQuotient(const Symbol &symbol) { return -floorDivide(-symbol.low, symbol.divisor); }

} // namespace

Polynomial Symbols::add(Symbol symbol) {
  list.push_back(std::move(symbol));
  return Polynomial::symbol(static_cast<SymbolId>(list.size() - 1)) * list.back().divisor;
}

Polynomial Symbols::addQuotient(const Polynomial &value, const Polynomial &by,
                                const std::string &name) {
  if (auto closed = floorDivide(value, by)) {
    return *closed;
  }
  std::pair parts(value, by);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].quotientOf == parts) {
      return Polynomial::symbol(static_cast<SymbolId>(i));
    }
  }
  const int64_t low = isAtMost(by, value) ? 1 : 0;
  Polynomial result =
      add({name.empty() ? fmt::format("q_{}", list.size()) : name, low, std::nullopt, 1, parts});
  assume(value - by * result);
  assume(by * result + by - 1 - value);
  return result;
}

std::optional<Polynomial> Symbols::find(const std::string &name) const {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) {
      return Polynomial::symbol(static_cast<SymbolId>(i)) * list[i].divisor;
    }
  }
  return std::nullopt;
}

bool Symbols::isNonNegativeByEnds(const Polynomial &value) const {
  Polynomial::Values ends;
  std::vector<SymbolId> bounded;
  for (SymbolId id : value.symbols()) {
    const Symbol &symbol = list[id];
    ends[id] = Polynomial::symbol(id) + lowQuotient(symbol);
    if (symbol.high) {
      bounded.push_back(id);
    }
  }
  size_t choices = bounded.size() > endsAtMost ? 1 : size_t{1} << bounded.size();
  for (size_t choice = 0; choice < choices; ++choice) {
    for (size_t i = 0; i < bounded.size(); ++i) {
      const Symbol &symbol = list[bounded[i]];
      bool isUpper = choice >> i & 1;
      ends[bounded[i]] = isUpper
                             ? Polynomial(generator::floorDivide(*symbol.high, symbol.divisor)) -
                                   Polynomial::symbol(bounded[i])
                             : Polynomial::symbol(bounded[i]) + lowQuotient(symbol);
    }
    Polynomial measured = value.substitute(ends);
    if (!measured.hasOverflowed() && hasNoNegative(measured)) {
      return true;
    }
  }
  return false;
}

bool Symbols::isNonNegative(const Polynomial &value, int factsLeft) const {
  if (value.hasOverflowed()) {
    return false;
  }
  if (isNonNegativeByEnds(value)) {
    return true;
  }
  if (factsLeft == 0) {
    return false;
  }
  auto isSignKnown = [&](SymbolId symbol) { return list[symbol].low >= 0; };
  for (const Polynomial &fact : facts) {
    for (const auto &[monomial, coefficient] : value.terms()) {
      for (const auto &[factMonomial, factCoefficient] : fact.terms()) {
        std::optional<Monomial> factor = quotient(monomial, factMonomial);
        bool isHelp = factor && coefficient < 0 && factCoefficient < 0 && coefficient > INT64_MIN &&
                      factCoefficient > INT64_MIN;
        if (isHelp && std::all_of(factor->begin(), factor->end(), isSignKnown)) {
          // An integer is not negative if and only if `times` of it and times - 1 are not; the
          // multiple of the fact takes this term away.
          const int64_t common = std::gcd(coefficient, factCoefficient);
          const int64_t times = -factCoefficient / common, multiple = -coefficient / common;
          Polynomial rest =
              value * times + (Polynomial(times) - 1) - fact * Polynomial::term(*factor, multiple);
          if (isNonNegative(rest, factsLeft - 1)) {
            return true;
          }
        }
      }
    }
  }
  return false;
}

bool Symbols::isNonNegative(const Polynomial &value) const {
  if (const std::optional<int64_t> number = value.constant(); number && *number >= 0) {
    return true;
  }
  auto known = proofs.find(value);
  return known != proofs.end() ? known->second : proofs[value] = isNonNegative(value, factsAtMost);
}

std::optional<Polynomial> Symbols::floorDivide(const Polynomial &value,
                                               const Polynomial &by) const {
  auto [whole, rest] = value.splitBy(by);
  auto number = by.constant();
  auto constant = rest.terms().find({});
  if (number && constant != rest.terms().end()) {
    int64_t carry = generator::floorDivide(constant->second, *number);
    whole = whole + carry;
    rest = rest - Polynomial(carry) * *number;
  }
  for (int64_t step = 0; step <= 1; ++step) {
    Polynomial shifted = rest + by * step;
    if (isNonNegative(shifted) && isPositive(by - shifted)) {
      return whole - step;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> Symbols::bind(const std::vector<int64_t> &values) const {
  std::vector<int64_t> quotients;
  auto next = values.begin();
  for (const Symbol &symbol : list) {
    std::optional<int64_t> value;
    if (symbol.quotientOf) {
      auto dividend = symbol.quotientOf->first.evaluate(quotients);
      auto divisor = symbol.quotientOf->second.evaluate(quotients);
      if (dividend && divisor && *divisor > 0) {
        value = generator::floorDivide(*dividend, *divisor);
      }
    } else if (symbol.chosenBy) {
      value = symbol.high.value_or(symbol.low);
    } else if (next != values.end()) {
      value = *next++;
    }
    if (!value || *value < symbol.low || (symbol.high && *value > *symbol.high) ||
        *value % symbol.divisor != 0) {
      return std::nullopt;
    }
    quotients.push_back(*value / symbol.divisor);
  }
  if (next != values.end()) {
    return std::nullopt;
  }
  for (const Polynomial &fact : facts) {
    std::optional<int64_t> value = fact.evaluate(quotients);
    if (!value || *value < 0) {
      return std::nullopt;
    }
  }
  return quotients;
}

std::string Symbols::text(const Polynomial &value) const {
  if (value.hasOverflowed()) {
    return "overflow";
  }
  std::string result;
  for (const auto &[monomial, coefficient] : value.terms()) {
    int64_t times = coefficient, divisor = 1;
    std::string names;
    for (SymbolId id : monomial) {
      int64_t common = std::gcd(times, list[id].divisor);
      times /= common;
      divisor *= list[id].divisor / common;
      names += (names.empty() ? "" : "*") + list[id].name;
    }
    bool isNegative = times < 0;
    std::string number = std::to_string(times).substr(isNegative ? 1 : 0);
    std::string term = names.empty() ? number : number == "1" ? names : number + "*" + names;
    term += divisor == 1 ? "" : fmt::format("/{}", divisor);
    result += result.empty() ? (isNegative ? "-" : "") : isNegative ? " - " : " + ";
    result += term;
  }
  return result.empty() ? "0" : result;
}

} // namespace nereid::generator
