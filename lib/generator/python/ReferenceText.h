// SPDX-License-Identifier: Apache-2.0
// What a kernel's results are held against in `<op>_accuracy.py`: the definition by PyTorch's
// operations, but for the few that are not exact in float64 themselves.
#pragma once

#include <string>

namespace nereid::generator {

struct FusedOperator;

/// A function `_exact_definition`, or the name for the definition where that is exact.
std::string exactDefinition(const FusedOperator &fused);

} // namespace nereid::generator
