// SPDX-License-Identifier: Apache-2.0
// The key `data` of inputs (cases/ComputedData.h).
#pragma once

#include "lib/definition/Graph.h"
#include "lib/definition/reader/TomlReader.h"

namespace nereid::definition {

/// Notes it at the inputs' nodes; E0602 where it is no expression over the tensors in front.
void readData(TomlReader &toml, Operator &op, Diagnostics &diags);

} // namespace nereid::definition
