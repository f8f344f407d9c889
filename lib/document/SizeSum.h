// SPDX-License-Identifier: Apache-2.0
// Sums of products of symbolic sizes, such as 2·P·D + D: how many elements or operations an
// operator has whatever its sizes are. Nodes of the graph make them, Work.h and the document's
// chapters show them, and with a case's sizes they are numbers.
#pragma once

#include "lib/definition/Graph.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::document {

/// The sizes of an operator in the order of its parameters, and the letter that stands for the
/// product of the leading dimensions "...": "P", or what the definition has left of "P", "R", "L".
class SizeNames {
public:
  explicit SizeNames(const definition::Operator &op);
  const std::string &rest() const { return restName; }
  bool hasRest() const { return rank("...") < symbols.size(); }
  std::string text(const std::string &symbol) const {
    const bool isSum = symbol.find(' ') != std::string::npos; // computed: "N - 1"
    return symbol == "..." ? restName : isSum ? "(" + symbol + ")" : symbol;
  }
  size_t rank(const std::string &symbol) const; ///< place in that order; unknown ones are last

private:
  std::vector<std::string> symbols;
  std::string restName;
};

class SizeSum {
public:
  /// Adds `factor` for each element of the shape.
  SizeSum &add(double factor, const definition::SymbolicShape &shape);
  SizeSum &add(const SizeSum &other, double factor = 1);
  bool isZero() const { return terms.empty(); }
  double evaluate(const definition::Binding &binding) const;
  /// "2·P·D + D", the longest products first; "0".
  std::string text(const SizeNames &names) const;
  /// What is left when all sizes grow: no product that another one contains, no factors. "P·D",
  /// "1" for a constant.
  std::string order(const SizeNames &names) const;

private:
  /// Symbols, sorted; the number in front of their product.
  std::map<std::vector<std::string>, double> terms;
};

/// How often each element of `part` meets when all elements of `whole` are made: the quotient of
/// both products. "P", "1", "H·Q", or "H·Q / W" where it does not come out even.
std::string timesText(const definition::SymbolicShape &whole, const definition::SymbolicShape &part,
                      const SizeNames &names);

} // namespace nereid::document
