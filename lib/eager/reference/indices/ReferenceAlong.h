// SPDX-License-Identifier: Apache-2.0
// Scans, sorted lines and positions of extrema, one line after another. Positions follow from the
// operands' exact values: which of two elements comes first is open only where rounding before may
// have moved them past each other, and an index there has an infinite bound.
#pragma once

#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// `input`: of the type in which the operation computes. `type`: of integers, which wrap in it.
BoundedTensor alongBounded(const definition::Node &node, const BoundedTensor &input,
                           DType inputType, DType type, const ErrorModel &model);

} // namespace nereid::eager
