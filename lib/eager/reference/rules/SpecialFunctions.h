// SPDX-License-Identifier: Apache-2.0
// Functions that the C++ library has not, or not to the last digits of float64.
#pragma once

namespace nereid::eager {

/// NaN outside of [-1, 1].
double inverseErf(double x);

/// The modified Bessel function of order 0.
double besselI0(double x);

/// The n-th derivative of digamma, n from 0 to 3. At 0 and the negative whole numbers: the infinity
/// that both sides go to; of digamma NaN, and at 0 the infinity of its sign.
double polygamma(int n, double x);
/// The sum of the magnitudes that make it, by recurrence or reflection.
double polygammaScale(int n, double x);
/// The same for lgamma on the left of 0.
double gammaScale(double x);

} // namespace nereid::eager
