// SPDX-License-Identifier: Apache-2.0
// The definitions that are nearest to a text. Of a document all that it says of the operator is
// ranked first; where that leaves several, or none, its title decides, unless the rest asks for an
// operation that the definition so found does not compute.
#pragma once

#include "lib/words/Doubt.h"
#include "lib/words/Parts.h"

namespace nereid::words {

struct Nearest {
  std::vector<Candidate> candidates; ///< best first
  std::optional<std::string> doubt;  ///< what speaks against the first; nothing when it is meant
};

Nearest nearest(const std::vector<Shipped> &shipped, const std::vector<Term> &terms,
                const Parts &parts, const Facts &facts);

} // namespace nereid::words
