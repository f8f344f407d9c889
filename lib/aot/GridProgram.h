// SPDX-License-Identifier: Apache-2.0
// A --grid expression compiled to the steps of runtime/aot/GridSteps.h, once for each
// specialization, whose constants it may name.
#pragma once

#include "lib/aot/Interface.h"

#include <string>
#include <vector>

namespace nereid::aot {

/// E0021 for a name that is neither an integer parameter nor an integer constant, and for what is
/// no integer expression.
Result<std::vector<Step>> compileGrid(const std::string &text, const Interface &interface,
                                      const SpecializationPlan &specialization);

} // namespace nereid::aot
