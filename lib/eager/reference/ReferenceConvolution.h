// SPDX-License-Identifier: Apache-2.0
// The reference's conv2d and views: plain loops over the definition, with an error bound per
// element.
#pragma once

#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// Operands as PyTorch's conv2d takes them: input, weight, and a bias or a number.
Result<BoundedTensor> convolutionBounded(const definition::Node &node, const BoundedTensor &input,
                                         const BoundedTensor &weight, const BoundedTensor &bias,
                                         const Rule &rule, const ErrorModel &model);

Result<BoundedTensor> viewBounded(const definition::Node &node, const BoundedTensor &input);

} // namespace nereid::eager
