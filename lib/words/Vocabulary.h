// SPDX-License-Identifier: Apache-2.0
// Finds the terms of vocabulary.def in tokens, the longest at each place.
#pragma once

#include "lib/words/Tokens.h"

namespace nereid::words {

enum class TermKind { Operation, Context, Type, Not, Fact };

struct Term {
  TermKind kind;
  std::string idea; ///< "layer_norm"
  std::string text; ///< as it was written
  SourceRange range;
  size_t first = 0, last = 0; ///< tokens
  bool isNegated = false;     ///< "without bias"
};

/// In the order of the text.
std::vector<Term> findTerms(const std::vector<Token> &tokens);

} // namespace nereid::words
