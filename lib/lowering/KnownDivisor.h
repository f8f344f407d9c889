// SPDX-License-Identifier: Apache-2.0
// Quotients of f32 by a number that is known, rounded as a division rounds them, without one.
//
// After Brisebarre, Muller and Raina (Accelerating correctly rounded floating-point division when
// the divisor is known in advance, 2004): with 1/c = high + low, the sum fma(x, high, x * low) is
// off by so little that it could round to another number only where x/c lies next to the middle of
// two. Such x are solutions of a congruence; they are found and tried.
#pragma once

#include <optional>

namespace nereid::lowering {

/// x / divisor == fma(x, high, x * low), the product rounded by itself, in every bit: for every x
/// whose size is `least` or more, for both zeros, infinities and NaN.
struct KnownDivisor {
  float high, low, least;
};

/// Nothing for powers of two and their neighbours, which are products already or have no such sum,
/// for numbers beyond 2^60 or below 2^-60, and for one in thirteen of the others.
std::optional<KnownDivisor> knownDivisor(float divisor);

} // namespace nereid::lowering
