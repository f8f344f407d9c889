// SPDX-License-Identifier: Apache-2.0
// Finds terms in tokens, the longest at each place. Terms are the functions of bodies
// (operations.def), under any spelling of their names ("log softmax", "log_softmax", "logsoftmax"),
// and the synonyms and Chinese words of vocabulary.def. Every other word is a term of its own: it
// may stand in a definition.
#pragma once

#include "lib/words/Tokens.h"

#include <set>

namespace nereid::words {

/// vocabulary.def says what each means. Word: in no list. Unknown: in no list and no definition.
enum class TermKind {
  Operation,
  Weak,
  Context,
  Type,
  Target,
  Not,
  Then,
  Fact,
  Stop,
  Word,
  Unknown
};

struct Term {
  TermKind kind;
  std::string idea; ///< "layer_norm"
  std::string text; ///< as it was written
  SourceRange range;
  size_t first = 0, last = 0; ///< tokens
  bool isNegated = false;     ///< "without bias"
  bool isCorrected = false;   ///< "sofmax" was read as "softmax"
};

/// In the order of the text, without stop words. With `known`, the words of all definitions: a word
/// that is in no list and not among them is Unknown, or the name of an operation that it misspells
/// by one letter.
std::vector<Term> findTerms(const std::vector<Token> &tokens,
                            const std::set<std::string> *known = nullptr);

/// Whether vocabulary.def calls the two opposites, in either order.
bool areOpposite(const std::string &one, const std::string &other);

} // namespace nereid::words
