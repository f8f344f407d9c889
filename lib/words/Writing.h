// SPDX-License-Identifier: Apache-2.0
// A shipped definition, or a chain of functions, with what a text says filled in: name,
// requirement, types, cases, target, scenes. Comments at its head say what was found and assumed.
#pragma once

#include "lib/words/Facts.h"
#include "lib/words/Request.h"
#include "lib/words/Shipped.h"

namespace nereid::words {

struct Written {
  std::string text;                ///< of the definition; its reader took it
  std::vector<std::string> found;  ///< and used
  std::vector<std::string> unused; ///< what was found and has no place in it
  std::vector<std::string> defaults;
};

/// E0624 when the text's types or `name` do not fit the definition.
Result<Written> writeDefinition(const Shipped &shipped, const Facts &facts, const Request &request,
                                const std::string &name);

} // namespace nereid::words
