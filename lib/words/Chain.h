// SPDX-License-Identifier: Apache-2.0
// "exp, then tanh": functions of bodies, one on the other's result, as a definition that no one
// shipped. Only functions that need one tensor and nothing that a text would have to say.
#pragma once

#include "lib/words/Shipped.h"

#include <optional>

namespace nereid::words {

/// The functions in their order: the text says "then" between each two, and asks for nothing else.
std::vector<std::string> chainOf(const std::vector<Term> &terms);

/// Its definition; nothing when a function needs more than the result before it.
std::optional<Shipped> chainDefinition(const std::vector<std::string> &functions);

} // namespace nereid::words
