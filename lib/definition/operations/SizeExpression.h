// SPDX-License-Identifier: Apache-2.0
// Numbers made of sizes: "D", "H*W", "1/math.sqrt(D)". In a graph each is one leaf, "size", whose
// attribute "expression" has the text; it becomes a number when the sizes of a case are known.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// What Python computes of integers and floats.
struct SizeNumber {
  bool isWhole = true;
  int64_t whole = 0;
  double real = 0;   ///< the same when it is whole
  int roundings = 0; ///< of float operations on the way
};

bool isSize(const Node &node);
/// The text of a size leaf or of a constant, as an operand of a size expression.
std::string sizeText(const Node &node);
/// The leaf for `text`; it `isWhole` where no step can give a fraction.
Node sizeNode(std::string text, bool isWhole);

/// E0604 when a size is not bound or an integer leaves 64 bits. Dividing by 0 gives IEEE's result.
Result<SizeNumber> evaluateSizes(const std::string &text, const Binding &binding);

/// The operator with each such leaf as the constant that it is in a case; a fraction that took
/// roundings has the attribute "roundings".
Result<Operator> withSizes(const Operator &op, const Binding &binding);

} // namespace nereid::definition
