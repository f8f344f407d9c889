// SPDX-License-Identifier: Apache-2.0
// The tangent of f32 by pairs of numbers: the angle beside the nearest multiple of pi/2, and the
// tangent of that, within 2^-28.
#pragma once

#include "lib/lowering/math/SinglePairs.h"

namespace nereid::lowering {

struct ReducedAngle32 {
  Lanes quadrant; // i32; the low bit counts
  Lanes rest;     // within [-pi/4, pi/4]
  Lanes missing;  // the angle is rest - missing, of which tiny rests are a small part
};

/// Angles of f32 up to here, in magnitude, are reduced in f32: 2^16 quarter turns.
inline constexpr double largestNear32 = 102943.0;

/// Of angles up to there.
ReducedAngle32 reduceNear32(Lanes x);
/// Of all others, in f64.
ReducedAngle32 reduceFar32(Lanes x);
Lanes tangentOf(ReducedAngle32 angle);

} // namespace nereid::lowering
