// SPDX-License-Identifier: Apache-2.0
// Tensors made of sizes and numbers (operations/indices/Creation.h) as bodies call them.
#pragma once

#include "lib/definition/gradient/GradientBody.h"

namespace nereid::definition {

/// "torch.full((N, D), 0.5, dtype=x.dtype)"; `operands` are the texts of the node's inputs. E0620
/// where a shape with "..." has no tensor among the inputs to be named by.
std::string creationText(GradientBody &body, const Node &node,
                         const std::vector<std::string> &operands);

} // namespace nereid::definition
