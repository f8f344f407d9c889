// SPDX-License-Identifier: Apache-2.0
// Inputs whose names a body gives to other values: `x = x.float()`.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// In the order of the inputs; `x += 1` writes into the input and is none.
std::vector<std::string> reassignedInputs(const Operator &op);

} // namespace nereid::definition
