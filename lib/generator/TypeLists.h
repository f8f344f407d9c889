// SPDX-License-Identifier: Apache-2.0
// What the types that a value has, one for each type of its operator, have in common.
#pragma once

#include "runtime/elements/DType.h"

#include <vector>

namespace nereid::generator {

bool areAllFloat(const std::vector<DType> &types);
bool areAllInteger(const std::vector<DType> &types); ///< bool counts as one
bool areAllBool(const std::vector<DType> &types);

} // namespace nereid::generator
