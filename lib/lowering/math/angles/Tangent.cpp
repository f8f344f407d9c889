// SPDX-License-Identifier: Apache-2.0
// Cody and Waite's reduction (Muller, Elementary Functions, chapter 11) with what each part loses;
// then a polynomial whose first term is a pair.
#include "lib/lowering/math/angles/Tangent.h"

#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/angles/AngleReduction.h"

namespace nereid::lowering {

ReducedAngle32 reduceNear32(Lanes x) {
  constexpr double roundingMagic = 12582912.0; // 1.5 * 2^23
  // The first part is below pi/2, so that all products have the sign of n and -0 stays what it is.
  constexpr double halfPi1 = 0x1.921fb4p+0, halfPi2 = 0x1.4442d2p-24, halfPi3 = -0x1.ee59dap-50;
  Lanes magic = mulAdd(x, 0x1.45f306p-1, x.constant(roundingMagic));
  Lanes n = magic - roundingMagic;
  // Multiples of the first part leave the angle exactly. What the second one leaves is no larger
  // than 24 bits of a multiple of its product's last place (Boldo, Daumas, Li, Formally verified
  // argument reduction with a fused multiply-add, 2009).
  Lanes first = mulAdd(n, -halfPi1, x);
  Pair second = twoProduct(n, x.constant(halfPi2));
  Lanes high = first - second.high;
  Lanes missing = mulAdd(n, halfPi3, ((high - first) + second.high) + second.low);
  return {bitsOf(magic), high, missing};
}

ReducedAngle32 reduceFar32(Lanes x) {
  ReducedAngle far = reduceAngle(toDouble(x), /*isSingle=*/true);
  Lanes high = toSingle(far.rest.high);
  return {truncateTo(far.quadrant, 32), high, toSingle(toDouble(high) - far.rest.high)};
}

Lanes tangentOf(ReducedAngle32 angle) {
  Lanes r = angle.rest;
  Lanes square = roundedProduct(r, r);
  Lanes lost = mulAdd(r, r, -square);
  // tan(r) = r + cube * factor, both as pairs. What the square lost counts with the slope of the
  // factor, of which the middle is enough.
  constexpr double third = 0x1.555556p-2, slope = 0.2;
  Lanes q = polynomial(square, std::span<const float>(coefficients::tan32Pair));
  Lanes factor = mulAdd(square, q, third);
  Lanes factorLow = mulAdd(lost, slope, mulAdd(square, q, third - factor));
  Lanes cube = roundedProduct(r, square);
  Lanes cubeLow = mulAdd(r, lost, mulAdd(r, square, -cube));
  Lanes sum = mulAdd(cube, factor, r);
  Lanes low = mulAdd(cube, factorLow, mulAdd(cubeLow, factor, mulAdd(cube, factor, r - sum)));
  // What is missing of r counts with the derivative, 1 + tan(r)^2. The difference of -0 and what is
  // then 0 is -0.
  Lanes missing = mulAdd(angle.missing, mulAdd(sum, sum, 1.0), -low);
  Lanes tangent = sum - missing;
  Lanes tangentLow = (sum - tangent) - missing;
  Lanes inverse = reciprocalNear(tangent);
  Lanes rest = mulAdd(-tangentLow, inverse, mulAdd(-tangent, inverse, 1.0));
  Lanes isOdd = (angle.quadrant & 1) == angle.quadrant.constantBits(1);
  return select(isOdd, mulAdd(-inverse, rest, -inverse), tangent);
}

} // namespace nereid::lowering
