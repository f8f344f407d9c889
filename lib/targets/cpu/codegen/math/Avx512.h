// SPDX-License-Identifier: Apache-2.0
// Single instructions of AVX-512 on a full register of floats that no operation of LLVM stands for.
#pragma once

#include "lib/targets/cpu/codegen/math/Lanes.h"

namespace nereid::cpu {

/// The machine has AVX-512 and the value is one register of f32 or f64.
bool isFullAvx512(Lanes x);

/// x * 2^floor(n) with one rounding, for every n, infinities and NaN included.
Lanes scaleByFloor(Lanes x, Lanes n);
/// The smaller of |x| and the limit, with the sign of x; the limit for NaN.
Lanes boundMagnitude(Lanes x, double limit);
/// The larger or smaller, the number when the other is NaN.
Lanes largerNumber(Lanes a, Lanes b);
Lanes smallerNumber(Lanes a, Lanes b);
/// Of 16 f32: entry number (index modulo 16) in each lane.
Lanes lookUp(std::span<const float> table, Lanes indices, Lanes like);
/// Of 16 f32: polynomials of t whose coefficients differ from lane to lane, one row for each power,
/// lowest first. Pairs of powers side by side: half as long to wait as Horner's scheme.
Lanes intervalPolynomial(std::span<const float[16]> rows, Lanes indices, Lanes t);

} // namespace nereid::cpu
