// SPDX-License-Identifier: Apache-2.0
// What a definition's constraints say of its sizes, for the algebra of shapes: "Q % H == 0" makes Q
// the product H * (Q // H), "Q == G * H" makes it G * H. Shapes have the name where there is one.
//
//   SizeRules rules(op);                              // of constraints = ["Q % H == 0"]
//   rules.named(*sizePolynomial("B * H * (Q // H)")); // B * Q
#pragma once

#include "lib/definition/operations/SizeAlgebra.h"

namespace nereid::definition {

/// A size and what it is equal to wherever the constraints hold.
struct SizeRule {
  std::string name;
  SizePolynomial value;
  SizePolynomial divisor; ///< of "name % divisor == 0"; 0 where another constraint says it
  bool isInShapes = true; ///< shapes have the name: some tensor's dimension is called so
};

/// "Q % H == 0".
std::string divisibility(const SizePolynomial &numerator, const SizePolynomial &denominator);

class SizeRules {
public:
  explicit SizeRules(const Operator &op);

  /// With "numerator % denominator == 0" as well; false where the numerator is no name.
  bool assume(const SizePolynomial &numerator, const SizePolynomial &denominator);
  /// The same for a quotient "Q // H", or "(N + 1) // 2".
  bool assume(const std::string &quotient);

  const std::vector<SizeRule> &all() const { return rules; }
  /// With each such name as the product that it is.
  SizePolynomial inFactors(const SizePolynomial &size) const;
  bool areEqual(const SizePolynomial &a, const SizePolynomial &b) const {
    return a == b || inFactors(a) == inFactors(b);
  }
  /// With names in the place of the products that they are.
  SizePolynomial named(const SizePolynomial &size) const;
  SymbolicShape named(SymbolicShape shape) const;

private:
  void add(std::string name, SizePolynomial value, SizePolynomial divisor);

  std::vector<SizeRule> rules;
};

} // namespace nereid::definition
