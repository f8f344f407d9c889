// SPDX-License-Identifier: Apache-2.0
// Cody and Waite's reduction (Muller, Elementary Functions, chapter 11) with what each part loses;
// then a polynomial whose first terms are pairs.
#include "lib/lowering/math/Tangent.h"

#include "lib/lowering/math/Coefficients.h"

namespace nereid::lowering {

ReducedAngle32 reduceNear32(Lanes x) {
  constexpr double roundingMagic = 12582912.0; // 1.5 * 2^23
  constexpr double halfPi1 = 0x1.921fb6p+0, halfPi2 = -0x1.777a5cp-25, halfPi3 = -0x1.ee59dap-50;
  Lanes magic = mulAdd(x, 0x1.45f306p-1, x.constant(roundingMagic));
  Lanes n = magic - roundingMagic;
  // Multiples of the first part leave the angle exactly.
  Lanes first = mulAdd(n, -halfPi1, x);
  Pair second = twoProduct(n, x.constant(-halfPi2));
  Pair sum = twoSum(first, second.high);
  Pair rest = quickTwoSum(sum.high, sum.low + mulAdd(n, -halfPi3, second.low));
  return {bitsOf(magic), rest};
}

Lanes tangentOf(ReducedAngle32 angle) {
  Lanes r = angle.rest.high, rLow = angle.rest.low;
  Lanes square = roundedProduct(r, r);
  Lanes lost = mulAdd(r, r, -square);
  Lanes q = polynomial(square, std::span<const float>(coefficients::tan32Pair));
  // 1/3 + z (second + z q) as a pair, and its product with z.
  constexpr double third = 0x1.555556p-2, thirdLow = -0x1.555556p-27; // their sum is 1/3
  constexpr double second = 0x1.111112p-3;
  Pair more = twoProduct(square, r.constant(second));
  Pair inner = quickTwoSum(r.constant(third), more.high);
  Lanes innerLow = mulAdd(square * square, q, inner.low + (more.low + thirdLow));
  Pair factor = twoProduct(square, inner.high);
  // What the square lost counts with the derivative, 1/3 + 2 second z + 3 z^2 q.
  Lanes change = mulAdd(innerLow, 3.0, mulAdd(inner.high, 2.0, r.constant(-third)));
  Lanes factorLow = mulAdd(square, innerLow, mulAdd(lost, change, factor.low));
  Pair cubic = twoProduct(r, factor.high);
  Pair sum = quickTwoSum(r, cubic.high);
  // The low part of r counts with the derivative, 1 + tan(r)^2.
  Lanes small = sum.low + cubic.low + mulAdd(sum.high * sum.high, rLow, rLow);
  Lanes low = mulAdd(r, factorLow, small);
  Pair tangent = quickTwoSum(sum.high, low);
  Pair inverse = reciprocalOfPair(tangent);
  Lanes isOdd = (angle.quadrant & 1) == angle.quadrant.constantBits(1);
  return select(isOdd, -(inverse.high + inverse.low), tangent.high + tangent.low);
}

} // namespace nereid::lowering
