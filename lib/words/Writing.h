// SPDX-License-Identifier: Apache-2.0
// A shipped definition with what a text says filled in: name, requirement, types, cases, target.
#pragma once

#include "lib/words/Facts.h"
#include "lib/words/Ranking.h"

namespace nereid::words {

struct Written {
  std::string text;                ///< of the definition; its reader took it
  std::vector<std::string> unused; ///< what was found and has no place in it
  std::vector<std::string> defaults;
};

/// E0624 when the text's types or `name` do not fit the definition.
Result<Written> writeDefinition(const Shipped &shipped, const Facts &facts,
                                const std::string &requirement, const std::string &name);

} // namespace nereid::words
