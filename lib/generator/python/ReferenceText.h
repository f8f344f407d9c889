// SPDX-License-Identifier: Apache-2.0
// What a kernel's results are held against in `<op>_accuracy.py`: the definition by PyTorch's
// operations, but for the few that are not exact in float64 themselves.
#pragma once

#include <string>

namespace nereid::generator {

struct CalledOperator;

/// A line of the body whose conversions leave float64, in which the reference computes, no other
/// type of floats: rounded to float16 and those below, float32 as it is.
std::string castsInFloat64(std::string line);

/// A function `_exact_definition`, or the name for the definition where that is exact.
std::string exactDefinition(const CalledOperator &called);

/// Whether the body is one function of PyTorch's that is linear, has no negative weights and makes
/// NaN of infinities that count nothing.
bool handsBackZeros(const CalledOperator &called);

} // namespace nereid::generator
