// SPDX-License-Identifier: Apache-2.0
// Pairs of f32 for functions that have to come within 0.6 units of the last place: their sum is off
// by about 2^-28 of itself, so that hardly more than its rounding is left. They take the place of
// f64, which costs twice the lanes on CPUs and more on GPUs. All of them need multiplication and
// addition in one instruction, and take approximations of the processor where it has some.
#pragma once

#include "lib/lowering/math/Lanes.h"

namespace nereid::lowering {

/// Whether x is f32 on a machine where these forms are right.
bool hasSinglePairs(Lanes x);

/// 1 / x within 2^-23; on some machines subnormal arguments and results are taken for 0.
Lanes reciprocalNear(Lanes x);
/// sqrt(high + low) of 0 and of finite numbers from 2^-60 on.
Pair rootOfPair(Pair x);
/// The same of numbers from 2^-100 on alone; NaN of negative ones.
Pair rootOfPositivePair(Pair x);
/// high + low = x.high * y.high and what the low parts add to it.
Pair productOfPairs(Pair x, Pair y);

/// log(x) of positive f32, subnormal ones included.
Pair logPair32(Lanes x);
/// log(2^exponent (high + low)), high normal and low at most 2^-23 of it.
Pair logOfPair32(Pair x, Lanes exponent);
/// log(1 + x) for x > -1.
Pair log1pPair32(Lanes x);

/// A power of two, 2^k, for k from -126 to 124.
struct PowerOfTwo32 {
  Lanes exponent;         ///< i32: k 2^23
  Lanes quarter, inverse; ///< 2^k / 4 and 2^-k / 4
};
/// The one that normal x is within sqrt(1/2) and sqrt(2) of.
PowerOfTwo32 powerOfTwoNear32(Lanes x);
/// log(power) + 2 atanh(n / (2 d)), rounded, with an error of 2^-28. |n / d| is at most 0.344, and
/// for powers above 1 the result is at least half of log(power).
Lanes logBesidePower32(PowerOfTwo32 power, Lanes n, Pair d);
/// atanh(a) of 0 <= a < 1, rounded, with an error of 2^-27.
Lanes atanhOfSize32(Lanes a);

} // namespace nereid::lowering
