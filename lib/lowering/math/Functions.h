// SPDX-License-Identifier: Apache-2.0
// The math functions as sequences of operations: each takes f32 or f64 lanes unless its name says
// which, and needs no library. docs/math.md states the error bounds, unittests/target_cpu proves
// them. The f32 functions that decide the speed of common kernels have polynomials of their own,
// most others pairs of f32 (SinglePairs.h); the rest compute in f64 and round once.
#pragma once

#include "lib/lowering/math/Lanes.h"

namespace nereid::lowering {

Lanes emitExp(Lanes x);
/// The same of a rounded difference. With an approximate unit it may be off by what moves x by half
/// a unit in its last place beside: the difference is.
Lanes expOfDifference(Lanes x);
/// The same of f32, with an approximate unit, within 2^-17 of results that floats of 16 bits hold;
/// beside one, what is below the normal numbers counts as 0.
Lanes expToHalf(Lanes x);
Lanes expToHalfBesideOne(Lanes x);
Lanes emitExp2(Lanes x);
Lanes emitExpm1(Lanes x);

Lanes emitLog(Lanes x);
Lanes emitLog2(Lanes x);
Lanes emitLog10(Lanes x);
Lanes emitLog1p(Lanes x);
/// The same of f32 that carries errors of an approximate unit, within 1.6 units in the last place.
Lanes log1pOfApproximated(Lanes x);

Lanes emitPow(Lanes x, Lanes y);
/// The same of f32, with an approximate unit, within 2^-14 of results that floats of 16 bits hold.
Lanes powToHalf(Lanes x, Lanes y);
Lanes emitCbrt(Lanes x);

Lanes emitSin(Lanes x);
Lanes emitCos(Lanes x);
Lanes emitTan(Lanes x);
/// The same of f32 that f16 holds, with an approximate unit.
Lanes sinOfHalf(Lanes x);
Lanes cosOfHalf(Lanes x);

Lanes emitAsin(Lanes x);
Lanes emitAcos(Lanes x);
Lanes emitAtan(Lanes x);
Lanes emitAtan2(Lanes y, Lanes x);

Lanes emitTanh(Lanes x);
Lanes emitSinh(Lanes x);
Lanes emitCosh(Lanes x);
Lanes emitAsinh(Lanes x);
Lanes emitAcosh(Lanes x);
Lanes emitAtanh(Lanes x);

Lanes emitErf(Lanes x);

/// An exact a * b + c for machines without the instruction.
Lanes emitFusedMultiplyAdd(Lanes a, Lanes b, Lanes c);

// ---- parts that several functions share ----

/// The logarithm of positive normal f64 lanes as a pair, relative error about 2^-65.
Pair logPair(Lanes x);
/// The same to base 2 of f32 lanes, positive and finite, relative error about 2^-30, with an
/// approximate unit.
Pair log2Pair32(Lanes x);
/// 2^(high + low) of f32 lanes with an approximate unit, low below 2^-16 in magnitude. Where high
/// is no number or infinite, low means nothing.
Lanes exp2OfPair32(Pair x);
/// exp(high + low) of f64 lanes, right also where the result is subnormal, 0 or infinite.
Lanes expOfPair(Pair x);
/// exp(x) - 1 of f32 or f64 lanes for 0 <= x <= 40 (NaN comes through): no overflow to care for.
Lanes expm1InRange(Lanes x);
/// exp(x) of f32 lanes for -87 <= x <= 0; with an approximate unit for every x, results that are
/// subnormal taken for 0.
Lanes expInRange32(Lanes x);

} // namespace nereid::lowering
