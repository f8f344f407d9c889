// SPDX-License-Identifier: Apache-2.0
// Angles modulo pi/2, for sin, cos and tan. Small angles subtract multiples of pi/2 held in parts;
// angles beyond 2^20 (rare, so behind a branch) multiply by the digits of 2/pi that matter.
#pragma once

#include "lib/lowering/math/Lanes.h"

namespace nereid::lowering {

struct ReducedAngle {
  Lanes quadrant; // i64; the low two bits count
  Pair rest;      // within [-pi/4, pi/4]
};

/// Of f64 lanes. `isSingle` when they came from f32: the low part of the rest is then 0. Infinite
/// angles and NaN give NaN.
ReducedAngle reduceAngle(Lanes x, bool isSingle);

} // namespace nereid::lowering
