// SPDX-License-Identifier: Apache-2.0
// What every call of an operator is checked for because its shapes and types are declared, whether
// or not a constraint says so as well. A constraint that repeats such a check is made and told
// once.
#pragma once

#include "lib/definition/Graph.h"

#include <string>
#include <vector>

namespace nereid::definition {

/// "x.dim() >= 1", "bias.shape == [D]", "x.dtype in (float32, float16)", "bias.dtype == x.dtype".
std::vector<std::string> declaredChecks(const Operator &op);

/// The constraint is one of these checks: a rank, a whole shape or a type as declared. One that
/// only follows from several of them ("x.shape[-1] == bias.numel()") is none.
bool isDeclared(const Constraint &constraint, const Operator &op);

} // namespace nereid::definition
