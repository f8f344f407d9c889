// SPDX-License-Identifier: Apache-2.0
// Whether a constraint holds for sizes, without the words that violation() finds for one that does
// not: what a search asks thousands of times.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// Types are left open, numbers have their defaults.
bool holds(const Constraint &constraint, const Operator &op, const Binding &binding);

/// Whether it may depend on the size of that name; true of all that asks for a tensor's shape.
bool mayDependOn(const Constraint &constraint, const std::string &symbol);

} // namespace nereid::definition
