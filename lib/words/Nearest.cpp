// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Nearest.h"

#include <algorithm>

namespace nereid::words {

Nearest nearest(const std::vector<Shipped> &shipped, const std::vector<Term> &terms,
                const Parts &parts, const Facts &facts) {
  const std::vector<Term> head = ofHead(terms, parts);
  Nearest all{rank(shipped, terms, facts), {}};
  all.doubt = doubtOf(all.candidates, head.empty() ? terms : head, facts);
  if (!all.doubt || head.empty()) {
    return all;
  }
  Nearest titled{rank(shipped, head, facts), {}};
  if (doubtOf(titled.candidates, head, facts)) {
    return all;
  }
  const Shipped &found = *titled.candidates.front().shipped;
  const bool isMore = std::any_of(terms.begin(), terms.end(), [&](const Term &term) {
    return term.kind == TermKind::Operation && !term.isNegated && !found.computes(term.idea) &&
           !found.classes.contains(term.idea);
  });
  return isMore ? all : titled;
}

} // namespace nereid::words
