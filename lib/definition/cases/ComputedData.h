// SPDX-License-Identifier: Apache-2.0
// Test data of an input that are computed of other inputs instead of being drawn:
//
//   [inputs.indices]
//   data = "F.max_pool2d(x, 2, return_indices=True)[1]"
#pragma once

#include "lib/definition/reader/Body.h"

#include <optional>

namespace nereid::definition {

/// What the data of a parameter are: the one result of an operator whose parameters are tensors in
/// front of it. Nothing where they are drawn.
std::optional<Operator> dataOperator(const Operator &op, size_t parameter);
/// The same of a text that the definition has at this place.
std::optional<Operator> readDataOf(const Operator &op, size_t parameter, const std::string &text,
                                   const BodyPlace &place, Diagnostics &diags);

} // namespace nereid::definition
