// SPDX-License-Identifier: Apache-2.0
// The reference's matrix product: plain sums in a wider type, with an error bound per element.
#pragma once

#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// Shapes as PyTorch's matmul takes them; they fit.
BoundedTensor productBounded(const BoundedTensor &a, const BoundedTensor &b, const Rule &rule,
                             const ErrorModel &model);

/// The same of integers, exact, modulo the range of the type: `out` has the shape, and gets the
/// values.
void productIntegers(DType type, const BoundedTensor &a, const BoundedTensor &b,
                     BoundedTensor &out);

/// A factor as dot products of bfloat16 may take it: what is no normal number is 0 for VDPBF16PS.
/// `copy` holds it where that makes a difference.
const BoundedTensor &asFactor(const BoundedTensor &tensor, const ErrorModel &model,
                              BoundedTensor &copy);

} // namespace nereid::eager
