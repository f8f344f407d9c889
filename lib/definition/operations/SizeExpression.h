// SPDX-License-Identifier: Apache-2.0
// Numbers made of sizes and number inputs: "D", "H*W", "1/math.sqrt(D)", "1 - beta". In a graph
// each is one leaf, "size", whose attribute "expression" has the text; it becomes a number when the
// sizes and numbers of a case are known.
#pragma once

#include "lib/definition/Graph.h"

#include <map>
#include <string>

namespace nereid::definition {

/// What Python computes of integers and floats.
struct SizeNumber {
  bool isWhole = true;
  int64_t whole = 0;
  double real = 0; ///< the same when it is whole
  /// How far off it may be where it is computed in a type with fewer digits, in unit roundoffs of
  /// that type: float operations round, and number inputs and literals come as that type has them.
  double error = 0;
};

bool isSize(const Node &node);
/// The text of a size leaf or of a constant, as an operand of a size expression.
std::string sizeText(const Node &node);
/// The leaf for `text`; it `isWhole` where no step can give a fraction.
Node sizeNode(std::string text, bool isWhole);
/// Whether number inputs are in it, so that no shape can be made of it.
bool hasNumberInputs(const Node &node);
/// Marks a leaf as one of those.
void noteNumberInputs(Node &node);

/// A number input of a call.
struct NumberInput {
  double value = 0;
  bool isInteger = false;
};
using NumberInputs = std::map<std::string, NumberInput>;
/// With the values that the parameters have.
NumberInputs numberInputs(const Operator &op);

/// E0604 when a size is not bound or an integer leaves 64 bits. Dividing by 0 gives IEEE's result.
Result<SizeNumber> evaluateSizes(const std::string &text, const Binding &binding,
                                 const NumberInputs &numbers = {});

/// The operator with each such leaf as the constant that it is in a case, of the parameters'
/// values; a fraction that may be off has the attribute "error".
Result<Operator> withSizes(const Operator &op, const Binding &binding);

} // namespace nereid::definition
