// SPDX-License-Identifier: Apache-2.0
// The reference's matrix product: plain sums in a wider type, with an error bound per element.
#pragma once

#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// Shapes as PyTorch's matmul takes them; they fit.
BoundedTensor productBounded(const BoundedTensor &a, const BoundedTensor &b, const Rule &rule,
                             const ErrorModel &model);

} // namespace nereid::eager
