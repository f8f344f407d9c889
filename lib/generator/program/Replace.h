// SPDX-License-Identifier: Apache-2.0
// Stores with other values in them.
#pragma once

#include "lib/generator/program/Program.h"

#include <functional>

namespace nereid::generator {

/// In the store's index, value and guard each value becomes what `replaced` says, and iterators of
/// the index what `map` does.
void replaceIn(Store &store, IndexSpace &space, const NodeMap &replaced, const IndexMap &map = {});

/// In all these stores, or those that `among` holds of, the values that `done` has become what it
/// says; what they were computed of is not looked at.
void replaceIn(std::vector<Store> &stores, Program &program,
               std::map<const Node *, const Node *> done,
               const std::function<bool(const Store &)> &among = nullptr);

} // namespace nereid::generator
