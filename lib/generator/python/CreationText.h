// SPDX-License-Identifier: Apache-2.0
// What a definition makes of sizes and numbers, in PyTorch: for the generated judge, and as calls
// of a body, which give neither a device nor know seeds.
#pragma once

#include "lib/definition/Graph.h"

#include <string>
#include <vector>

namespace nereid::generator {

/// "_t.tensor(torch.arange(N, device=x.device))"; sizes have the definition's names.
std::string createdStep(const definition::Node &node, const definition::Operator &op);

/// "torch.arange(N)" becomes "_made(x.device, torch.arange, N)", and a call with a seed one of the
/// functions of creationHelpers: "F.dropout(x, seed=seed)" becomes "_random_dropout(x, seed=seed)".
/// `device` is an expression, "x.device".
void placeCreations(std::vector<std::string> &lines, const std::string &device);
/// The functions that these lines of a body call then, which PyTorch has not.
std::string creationHelpers(const std::vector<std::string> &lines);

} // namespace nereid::generator
