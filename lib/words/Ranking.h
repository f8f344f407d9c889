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
  bool hasRank = false;             ///< its first tensor has the rank of the text, and no other
  std::set<std::string> ideas;      ///< terms of the text that it has
  std::vector<std::string> matched; ///< "'softmax' (name)", as the text says them
  std::vector<std::string> missing; ///< terms only the name has
};

/// Best first. Each has every operation that the text asks for and nothing the text excludes.
std::vector<Candidate> rank(const std::vector<Shipped> &shipped, const std::vector<Term> &terms,
                            const Facts &facts);

/// Asked for by a name of its own, and not excluded.
bool isStrong(const Term &term);

/// Of a gradient or a number, which are judged by themselves.
bool isOfFact(const Term &term, const Facts &facts);

/// A name may say what stands before the operator ("conv_bias_relu"): products are only where the
/// body has them.
bool isElsewhere(const Shipped &one, const Term &term);

} // namespace nereid::words
