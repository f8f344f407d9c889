// SPDX-License-Identifier: Apache-2.0
// The table [gradient] of a definition: gradients that its author wrote, which take the place of
// those that are derived. Their texts are read with the backward operator (gradient/Backward.h).
#pragma once

#include "lib/definition/Graph.h"
#include "lib/definition/reader/TomlReader.h"

namespace nereid::definition {

/// Each text becomes the attribute "gradient" of its parameter's node; "body" becomes "shared", of
/// all that have one. Needs the nodes of the parameters. E0602 for a key that is neither a tensor
/// of floats among the inputs nor "body", and for a text that is empty or no text.
void readGradients(TomlReader &toml, Operator &op);

} // namespace nereid::definition
