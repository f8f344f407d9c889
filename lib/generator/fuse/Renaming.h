// SPDX-License-Identifier: Apache-2.0
// What the iterators of one value are called in another one that is the same but for that.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// What iterators of `from` are called in `to`, if that makes the same value of it. Reductions have
/// to be over iterators of their own alike in both, see BoundNames.h.
std::optional<std::map<IteratorId, IteratorId>> renamingOf(Program &program, const Node *from,
                                                           const Node *to);

} // namespace nereid::generator
