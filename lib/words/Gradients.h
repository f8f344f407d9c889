// SPDX-License-Identifier: Apache-2.0
// With respect to what a text asks for a gradient, and a definition computes one: "layer norm
// backward with respect to the weight", "the gradients of scale and shift", "对权重的梯度".
#pragma once

#include "lib/words/Vocabulary.h"

#include <set>
#include <string>
#include <vector>

namespace nereid::words {

/// One tensor that a gradient is asked of.
struct GradientFact {
  std::string idea; ///< "weight"; a word's stem where no tensor usually goes by it
  std::string text;
  SourceRange range;
};

/// None for a text without a gradient, or that does not say of what.
std::vector<GradientFact> findGradients(const std::vector<Token> &tokens,
                                        const std::vector<Term> &terms);

/// Ideas and words of the tensor that an output is the gradient of: its description tells, or its
/// name behind "grad_"; an output that says nothing is that of the input.
std::set<std::string> gradientIdeas(const std::string &name, const std::string &description);

} // namespace nereid::words
