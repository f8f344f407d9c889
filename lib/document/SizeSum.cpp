// SPDX-License-Identifier: Apache-2.0
#include "lib/document/SizeSum.h"

#include "lib/definition/operations/SizeExpression.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::document {
namespace {

using Symbols = std::vector<std::string>;

struct Product {
  double factor = 1;
  Symbols symbols;
};

Product productOf(const definition::SymbolicShape &shape) {
  Product product;
  for (const definition::Dim &dim : shape) {
    if (dim.symbol.empty()) {
      product.factor *= static_cast<double>(dim.constant);
    } else {
      product.symbols.push_back(dim.symbol);
    }
  }
  std::sort(product.symbols.begin(), product.symbols.end());
  return product;
}

std::string productText(Symbols symbols, const SizeNames &names) {
  std::stable_sort(symbols.begin(), symbols.end(), [&](const std::string &a, const std::string &b) {
    return names.rank(a) < names.rank(b);
  });
  std::string text;
  for (const std::string &symbol : symbols) {
    text += (text.empty() ? "" : "·") + names.text(symbol);
  }
  return text;
}

/// The products in the order in which people write them: the longest first, then by their sizes.
std::vector<Symbols> ordered(const std::map<Symbols, double> &terms, const SizeNames &names) {
  std::vector<Symbols> products;
  for (const auto &[symbols, factor] : terms) {
    products.push_back(symbols);
  }
  auto ranks = [&](const Symbols &symbols) {
    std::vector<size_t> list;
    for (const std::string &symbol : symbols) {
      list.push_back(names.rank(symbol));
    }
    std::sort(list.begin(), list.end());
    return list;
  };
  std::sort(products.begin(), products.end(), [&](const Symbols &a, const Symbols &b) {
    return a.size() != b.size() ? a.size() > b.size() : ranks(a) < ranks(b);
  });
  return products;
}

/// An exact number in as few characters as possible.
std::string factorText(double factor) { return fmt::format("{:.15g}", factor); }

} // namespace

SizeNames::SizeNames(const definition::Operator &op) : symbols(definition::symbolsOf(op)) {
  const std::set<std::string> taken(symbols.begin(), symbols.end());
  restName = "leading";
  for (const char *letter : {"P", "R", "L"}) {
    if (!taken.contains(letter)) {
      restName = letter;
      break;
    }
  }
}

size_t SizeNames::rank(const std::string &symbol) const {
  return static_cast<size_t>(std::find(symbols.begin(), symbols.end(), symbol) - symbols.begin());
}

SizeSum &SizeSum::add(double factor, const definition::SymbolicShape &shape) {
  const Product product = productOf(shape);
  const double whole = factor * product.factor;
  if (whole != 0 && (terms[product.symbols] += whole) == 0) {
    terms.erase(product.symbols);
  }
  return *this;
}

SizeSum &SizeSum::add(const SizeSum &other, double factor) {
  for (const auto &[symbols, own] : other.terms) {
    if ((terms[symbols] += own * factor) == 0) {
      terms.erase(symbols);
    }
  }
  return *this;
}

double SizeSum::evaluate(const definition::Binding &binding) const {
  double total = 0;
  for (const auto &[symbols, factor] : terms) {
    double product = factor;
    for (const std::string &symbol : symbols) {
      if (symbol == "...") {
        for (int64_t size : binding.rest) {
          product *= static_cast<double>(size);
        }
        continue;
      }
      auto size = definition::evaluateSizes(symbol, binding);
      product *= size ? size->real : 0;
    }
    total += product;
  }
  return total;
}

std::string SizeSum::text(const SizeNames &names) const {
  std::string text;
  for (const Symbols &symbols : ordered(terms, names)) {
    const double factor = terms.at(symbols);
    text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    const double size = factor < 0 ? -factor : factor;
    if (symbols.empty()) {
      text += factorText(size);
    } else {
      text += (size == 1 ? "" : factorText(size) + "·") + productText(symbols, names);
    }
  }
  return text.empty() ? "0" : text;
}

std::string SizeSum::order(const SizeNames &names) const {
  std::string text;
  for (const Symbols &symbols : ordered(terms, names)) {
    const bool isContained = std::any_of(terms.begin(), terms.end(), [&](const auto &other) {
      return other.first.size() > symbols.size() &&
             std::includes(other.first.begin(), other.first.end(), symbols.begin(), symbols.end());
    });
    if (!isContained) {
      text += (text.empty() ? "" : " + ") + (symbols.empty() ? "1" : productText(symbols, names));
    }
  }
  return text.empty() ? "1" : text;
}

std::string timesText(const definition::SymbolicShape &whole, const definition::SymbolicShape &part,
                      const SizeNames &names) {
  Product above = productOf(whole), below = productOf(part);
  Symbols numerator, denominator;
  std::set_difference(above.symbols.begin(), above.symbols.end(), below.symbols.begin(),
                      below.symbols.end(), std::back_inserter(numerator));
  std::set_difference(below.symbols.begin(), below.symbols.end(), above.symbols.begin(),
                      above.symbols.end(), std::back_inserter(denominator));
  const double factor = below.factor != 0 ? above.factor / below.factor : 0;
  std::string text = numerator.empty() ? "" : productText(numerator, names);
  if (factor != 1 || text.empty()) {
    text = factorText(factor) + (text.empty() ? "" : "·" + text);
  }
  return denominator.empty() ? text : text + " / " + productText(denominator, names);
}

} // namespace nereid::document
