// SPDX-License-Identifier: Apache-2.0
// What a stage's values need of reductions that are to be computed before it.
#pragma once

#include "lib/generator/index/Node.h"

namespace nereid::generator {

/// The values of the reductions `cut` that others, or the roots themselves, need: of a tuple its
/// components. In the order in which they were made; none that only a reduction of `cut` needs.
std::vector<const Node *> frontier(const std::vector<const Node *> &roots,
                                   const std::set<const Node *> &cut);

} // namespace nereid::generator
