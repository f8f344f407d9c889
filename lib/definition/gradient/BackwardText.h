// SPDX-License-Identifier: Apache-2.0
// A backward operator's body as a definition: which inputs it needs, what they have to meet, and
// the cases of the forward operator with the sizes of the new one.
#pragma once

#include "lib/definition/gradient/Backward.h"
#include "lib/definition/gradient/GradientBody.h"

namespace nereid::definition {

/// A gradient that the backward operator takes or gives.
struct GradientTensor {
  std::string name;
  SymbolicShape shape;
  std::optional<DType> dtype;
  int index = 0; ///< of the output whose gradient is taken, of the parameter whose is given
};

/// `body` has all lines. The definition is read again, whose errors are returned with its text.
Result<Backward> backwardDefinition(const GradientBody &body,
                                    const std::vector<GradientTensor> &taken,
                                    const std::vector<GradientTensor> &given);

} // namespace nereid::definition
