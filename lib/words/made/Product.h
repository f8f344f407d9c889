// SPDX-License-Identifier: Apache-2.0
// Products of two matrices of which the text turns one or both:
//
//   "A^T B", "a @ b.T", "A transposed times B", "product of the transpose of A and B"
//   "A的转置乘以B", "矩阵A与矩阵B的转置的乘积"
//
// Which one is turned has to be plain: "transposed product of A and B" and "A times B transposed",
// which may be of the product, are none of these.
#pragma once

#include "lib/words/Shipped.h"

#include <optional>

namespace nereid::words {

/// Nothing where the tokens are more than such a product and what says nothing of an operator.
std::optional<Shipped> turnedProduct(const std::vector<Token> &tokens);

} // namespace nereid::words
