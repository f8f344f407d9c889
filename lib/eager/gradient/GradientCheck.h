// SPDX-License-Identifier: Apache-2.0
// A backward operator against finite differences of the forward one, both in float64 by the
// reference, so that it knows neither kernels nor derivatives.
#pragma once

#include "lib/definition/gradient/Backward.h"
#include "runtime/ThreadPool.h"

namespace nereid::eager {

struct GradientCheck {
  int compared = 0;      ///< elements and directions
  double worstError = 0; ///< relative to the larger of both and the size of the outputs' gradient
  std::string failure;   ///< "" = they agree
};

/// With the sizes of `binding` and normal data of the seed inside what the constraints allow: a few
/// elements of each input, and a random direction through all of it. E0604 when sizes are missing.
Result<GradientCheck> checkGradient(const definition::Operator &op,
                                    const definition::Backward &backward,
                                    const definition::Binding &binding, uint64_t seed,
                                    runtime::ThreadPool &pool);

} // namespace nereid::eager
