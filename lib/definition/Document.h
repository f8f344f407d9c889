// SPDX-License-Identifier: Apache-2.0
// The definition document, <op>_definition.md: interface, constraints, complexity, bytes, FLOPs,
// intensity, side of the roofline, and the strategy that follows. The first stage's output.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/machine/Machine.h"

namespace nereid::definition {

/// Markdown; figures are for `dtype` and the operator's performance cases. What the chip's
/// descriptor does not say is left out; its rate of arithmetic is that of float32, in which the
/// kernels compute.
std::string definitionDocument(const Operator &op, DType dtype, const Machine &chip);

} // namespace nereid::definition
