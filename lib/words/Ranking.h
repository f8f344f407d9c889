// SPDX-License-Identifier: Apache-2.0
// Which definitions fit the terms of a text. A term counts more the fewer definitions have it, and
// more in a name than in a summary, a body or the inputs' descriptions; what only the definition's
// name says counts against it.
#pragma once

#include "lib/words/Facts.h"
#include "lib/words/Shipped.h"

namespace nereid::words {

struct Candidate {
  const Shipped *shipped;
  double score = 0;
  bool isWhole = false;             ///< the text says all of its name
  bool isClass = false;             ///< the text says no more than its class: "a loss"
  bool lacksName = false;           ///< the text names another definition, of one word
  std::vector<std::string> matched; ///< "'softmax' (name)", as the text says them
  std::vector<std::string> missing; ///< terms only the name has
};

/// Best first. Each has every operation that the text asks for and nothing the text excludes.
std::vector<Candidate> rank(const std::vector<Shipped> &shipped, const std::vector<Term> &terms,
                            const Facts &facts);

/// The first candidate is ahead, and no word that nobody knows stands beside words that may mean
/// anything ("sum of the foos").
bool isClear(const std::vector<Candidate> &candidates, const std::vector<Term> &terms,
             const Facts &facts);

} // namespace nereid::words
