// SPDX-License-Identifier: Apache-2.0
// What generated kernels can compute, asked of the generator itself: of each function of
// definitions, in a body that calls nothing else, and of whole operators.
#pragma once

#include "lib/definition/Graph.h"

#include <optional>
#include <string>

namespace nereid::develop {

/// Why no kernel can be generated of a body with this function, on floats or, of functions that
/// floats do not have, on integers; none: one can.
std::optional<Diagnostic> missingForm(const std::string &function);

/// Why no kernel can be generated of the operator; none: one can.
std::optional<Diagnostic> missingKernel(const definition::Operator &op);

} // namespace nereid::develop
