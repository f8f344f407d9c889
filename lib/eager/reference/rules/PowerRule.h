// SPDX-License-Identifier: Apache-2.0
// The bound of a power, by what its base and its exponent may be.
#pragma once

#include "lib/eager/reference/rules/ErrorRules.h"

namespace nereid::eager {

/// a ** b as IEEE 754 has `pow`, without its own rounding. `lowest`: what the base is never below.
/// An infinite error: an implementation may have an infinity, NaN or a number there.
Bounded power(const Bounded &a, const Bounded &b, double lowest);

} // namespace nereid::eager
