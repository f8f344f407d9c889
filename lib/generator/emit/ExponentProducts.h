// SPDX-License-Identifier: Apache-2.0
// Products of which an exponent is a difference, as in a softmax of scores a[i, j] · b[j]:
//
//   exp(a[i, j] * b[j] - m[i]) / sum[r](exp(a[i, r] * b[r] - m[i]))
//
// Sum and shares may be written by different kernels, or different walks of one, which compute the
// product anew. Compilers contract a product with the difference where nothing else needs it, and
// else round it: where a rounding of a score is of the order of 1, shares of 0.5 became 3.6. So it
// is rounded everywhere, by fma(a, b, 0), which is no product that anything could be joined with.
#pragma once

#include "lib/generator/index/Node.h"

namespace nereid::generator {

struct ExponentProducts {
  /// Only their maximum is needed besides, so that no sign of a zero shows: rounded like that
  /// wherever they are needed.
  std::set<const Node *> rounded;
  /// Differences of others, from which a rounded one of their own is taken.
  std::set<const Node *> differences;
};

/// Those among what `roots`, the values of a kernel, are computed of.
ExponentProducts exponentProducts(const std::vector<const Node *> &roots);

} // namespace nereid::generator
