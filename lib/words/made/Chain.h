// SPDX-License-Identifier: Apache-2.0
// "linear with bias, then tanh": functions of bodies, one on the other's result, as a definition
// that no one shipped. A step may take a second tensor where the text says which: "add the
// residual", "two tensors" in front of all others, a bias; and dropout the probability that it
// says. Nothing else is guessed.
#pragma once

#include "lib/words/Shipped.h"

#include <optional>

namespace nereid::words {

struct ChainStep {
  std::string function;
  std::string operand = {}; ///< the second tensor: "bias", "residual", "y"; empty = none
  std::string number = {};  ///< of dropout, as the text has it
};

/// The steps in their order: the text says "then" between each two, but for the bias of a product,
/// and asks for nothing else.
std::vector<ChainStep> chainOf(const std::vector<Term> &terms, const std::vector<Token> &tokens);

/// Its definition; nothing when a function needs more than the result before it.
std::optional<Shipped> chainDefinition(const std::vector<ChainStep> &steps);

} // namespace nereid::words
