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

/// A factor as dot products of 16 bits may take it: what is no normal number of bfloat16 is 0 for
/// VDPBF16PS; of float16 it has the exponent of the least normal number in a tensor core, which
/// cuts the digits of what it adds at once. `copy` holds it where that makes a difference.
const BoundedTensor &asFactor(const BoundedTensor &tensor, const ErrorModel &model,
                              BoundedTensor &copy);

} // namespace nereid::eager
