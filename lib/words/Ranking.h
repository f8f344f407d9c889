// SPDX-License-Identifier: Apache-2.0
// Which definitions fit the terms of a text. A definition is known by the terms of its name and of
// the first operation its summary names; other terms of its summary and its inputs support it. A
// term counts more the fewer definitions have it.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/words/Vocabulary.h"

#include <set>

namespace nereid::words {

struct Shipped {
  std::string text; ///< of its file
  definition::Operator op;
  std::set<std::string> names, support; ///< terms
};

struct Candidate {
  const Shipped *shipped;
  double score;
  std::vector<std::string> matched, missing; ///< as the text says them; terms only the name has
};

/// All definitions below `folder`, those that cannot be read left out; ordered by name.
std::vector<Shipped> readShipped(const std::string &folder);
/// Beside the program, else "operators".
std::string shippedFolder();

/// Best first. Each has every operation that the text asks for and nothing the text excludes.
std::vector<Candidate> rank(const std::vector<Shipped> &shipped, const std::vector<Term> &terms);

/// Of several candidates the first is far ahead.
bool isClear(const std::vector<Candidate> &candidates);

} // namespace nereid::words
