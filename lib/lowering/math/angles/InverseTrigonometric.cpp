// SPDX-License-Identifier: Apache-2.0
// atan and atan2 reduce to |t| <= tan(pi/8) by one division; asin and acos to |x| <= 1/2 by
// asin(x) = pi/2 - 2 asin(sqrt((1-x)/2)), in f32 with the root as a pair. atan2 of f32 takes a pair
// for the quotient, atan of f32 computes in f64 but with an approximate unit.
#include "lib/lowering/Branches.h"
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/SinglePairs.h"

#include <limits>

namespace nereid::lowering {
namespace {

constexpr double piHigh = 0x1.921fb54442d18p+1, piLow = 0x1.1a62633145c07p-53;
constexpr double halfPi32 = 0x1.921fb6p+0, halfPi32Low = -0x1.777a5cp-25;
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double tanEighth = 0.41421356237309503;     // tan(pi/8)
constexpr double tanThreeEighths = 2.414213562373095; // tan(3 pi/8)

/// The angle of the point (x, y) with x, y >= 0, not both 0 or infinite.
Lanes angleInQuadrant(Lanes y, Lanes x) {
  Lanes isMiddle = y > x * tanEighth;
  Lanes isSteep = y > x * tanThreeEighths;
  Lanes numerator = select(isSteep, -x, select(isMiddle, y - x, y));
  Lanes denominator = select(isSteep, y, select(isMiddle, y + x, x));
  auto base = [&](double half, double quarter) {
    return select(isSteep, x.constant(half), select(isMiddle, x.constant(quarter), 0.0));
  };
  Lanes t = numerator / denominator;
  Lanes z = t * t;
  Lanes tail = t * z * polynomial(z, std::span<const double>(coefficients::atan64));
  return base(piHigh / 2, piHigh / 4) + (t + (tail + base(piLow / 2, piLow / 4)));
}

struct HalfAngle {
  Lanes isLarge; // |x| > 1/2
  Lanes angle;   // asin(|x|), or asin(sqrt((1-|x|)/2)) where it is large
};

HalfAngle reducedAsin(Lanes x) {
  Lanes a = absolute(x);
  Lanes isLarge = a > 0.5;
  Lanes z = select(isLarge, (1.0 - a) * 0.5, a * a);
  Lanes s = select(isLarge, squareRoot(z), a);
  Lanes tail = s * z * polynomial(z, std::span<const double>(coefficients::asin64));
  return {isLarge, s + tail};
}

} // namespace

/// atan(x) of f32: that of 1 / abs(x) from pi/2 where x is large.
static Lanes atan32(Lanes x, const ApproximateUnit &unit) {
  Lanes a = absolute(x);
  Lanes isLarge = a > 1.0; // not NaN, which comes through
  Lanes t = select(isLarge, unit.reciprocalOfNormal(a), a);
  Lanes z = t * t;
  Lanes q = polynomial(z, std::span<const float>(coefficients::atan32));
  Lanes angle = mulAdd(t * z, q, t);
  Lanes large = halfPi32 - (mulAdd(t * z, q, x.constant(-halfPi32Low)) + t);
  return copySign(select(isLarge, large, angle), x);
}

Lanes emitAtan(Lanes x) {
  if (const ApproximateUnit *unit = approximateUnitFor(x)) {
    return atan32(x, *unit);
  }
  if (x.width() == 32) {
    return toSingle(emitAtan(toDouble(x)));
  }
  return copySign(angleInQuadrant(absolute(x), x.constant(1.0)), x);
}

/// The angle of (x, y) where neither is very large or small beside 1. With m, which is 1/2 where
/// the lower quotient n / d of the magnitudes is above 1/4, that of n / d is atan(m) + atan((n - m
/// d) / (d + m n)), and the last quotient is at most 1/3. The difference is exact.
static Lanes atan2Near32(Lanes y, Lanes x, Lanes isSteep, Lanes n, Lanes d) {
  // pi/2 and 2 atan(1/2), whose first parts are multiples of 2^-21, so that their sums are exact.
  constexpr double halfPi1 = 0x1.921fb8p+0, halfPi2 = -0x1.5dde98p-23;
  constexpr double twiceAngle1 = 0x1.dac67p-1, twiceAngle2 = 0x1.586ed4p-27;
  Lanes m = select(n * 4.0 > d, x.constant(0.5), 0.0);
  Lanes divisor = mulAdd(m, n, d);
  Lanes divisorLow = mulAdd(m, n, d - divisor);
  Lanes dividend = mulAdd(-m, d, n);
  Lanes inverse = reciprocalNear(divisor);
  Lanes q = roundedProduct(dividend, inverse);
  Lanes low = mulAdd(-q, divisorLow, mulAdd(-q, divisor, dividend)) * inverse;
  Lanes z = q * q;
  Lanes change = z * polynomial(z, std::span<const float>(coefficients::atan32Third));
  // atan(q + low) = q + tail; its derivative is 1 + 3 change, as far as that matters.
  Lanes tail = mulAdd(change, mulAdd(low, 3.0, q), low);

  // Turns by a quarter, and the direction in which the angle counts from there.
  Lanes two = bitsOf(x.constant(2.0));
  Lanes quarters = select(isSteep, 1.0, floatOf(shiftRightSigned(bitsOf(x), 31) & two));
  Lanes direction = select(isSteep, x.constant(-1.0), 1.0);
  direction = floatOf(bitsOf(direction) ^ (bitsOf(x) & uint64_t(0x80000000)));
  Lanes middle = direction * m;
  Lanes base = mulAdd(middle, twiceAngle1, quarters * halfPi1);
  Lanes high = mulAdd(direction, q, base);
  Lanes rest = mulAdd(direction, q, base - high);
  rest = mulAdd(middle, twiceAngle2, mulAdd(quarters, halfPi2, rest));
  return copySign(high + mulAdd(direction, tail, rest), y);
}

static Lanes atan2InDouble(Lanes y, Lanes x) {
  return toSingle(emitAtan2(toDouble(y), toDouble(x)));
}

static Lanes atan2Of32(Lanes y, Lanes x) {
  Lanes ay = absolute(y), ax = absolute(x);
  Lanes isSteep = ay > ax;
  Lanes n = select(isSteep, ax, ay), d = select(isSteep, ay, ax);
  // What the quotient's error is computed from, and the quotient, must be normal; 0 / 0 is taken
  // for 0.
  constexpr double least = 0x1p-66, largest = 0x1p56;
  Lanes isRare = !(d <= largest) | ((n < least) & (n > 0.0));
  Lanes near = atan2Near32(y, x, isSteep, n, atLeast(d, least));
  return unlessRare(isRare, near, [&] { return atan2InDouble(y, x); });
}

Lanes emitAtan2(Lanes y, Lanes x) {
  if (hasSinglePairs(x)) {
    return atan2Of32(y, x);
  }
  if (x.width() == 32) {
    return atan2InDouble(y, x);
  }
  // A quarter, so that the sum of both does not overflow; two of few bits with all the others, as
  // what the quotient is compared by is a product.
  Lanes isHuge = (absolute(y) > 0x1p1000) | (absolute(x) > 0x1p1000);
  Lanes areTiny = (absolute(y) < 0x1p-900) & (absolute(x) < 0x1p-900);
  Lanes scale = select(isHuge, x.constant(0.25), select(areTiny, x.constant(0x1p200), 1.0));
  Lanes ay = absolute(y) * scale, ax = absolute(x) * scale;
  Lanes angle = angleInQuadrant(ay, ax);
  angle = select(ay == ax, piHigh / 4, angle);
  angle = select(absolute(y) == 0.0, 0.0, angle);
  Lanes isLeft = bitsOf(x) < bitsOf(x).constantBits(0);
  angle = select(isLeft, piHigh - (angle - piLow), angle);
  return select(isNan(x), x, copySign(angle, y));
}

/// asin(x), or asin(sqrt((1 - |x|) / 2)) where |x| is above 17/32.
/// The angle is s + cubic * q + lost, of which s is nearly all.
struct HalfAngle32 {
  Lanes isLarge, s, cubic, q, lost;
};

static HalfAngle32 reducedAsin32(Lanes x) {
  Lanes a = absolute(x);
  Lanes isLarge = a > 0.53125;
  Lanes z = select(isLarge, mulAdd(a, -0.5, a.constant(0.5)), a * a);
  Pair near = rootOfPair({z, z.constant(0)});
  Pair root = quickTwoSum(near.high, near.low);
  Lanes s = select(isLarge, root.high, x);
  Lanes q = polynomial(z, std::span<const float>(coefficients::asin32));
  Lanes cubic = roundedProduct(s, z);
  // Beside the tail: what the root, or the square of x, has lost, and the cube.
  Lanes lost = select(isLarge, root.low, mulAdd(x, x, -z) * s * q);
  return {isLarge, s, cubic, q, mulAdd(mulAdd(s, z, -cubic), q, lost)};
}

static Lanes asin32(Lanes x) {
  HalfAngle32 half = reducedAsin32(x);
  Pair rest = quickTwoSum(x.constant(halfPi32), half.s * -2.0);
  Lanes low = mulAdd(half.lost, -2.0, rest.low + halfPi32Low);
  Lanes large = rest.high + mulAdd(half.cubic * -2.0, half.q, low);
  Lanes small = half.s + mulAdd(half.cubic, half.q, half.lost);
  Lanes result = copySign(select(half.isLarge, large, small), x);
  return select(absolute(x) > 1.0, notANumber, result);
}

/// pi/2 - angle in the middle; twice the angle on the right, and that from pi on the left.
static Lanes acos32(Lanes x) {
  HalfAngle32 half = reducedAsin32(x);
  Lanes factor = select(half.isLarge, copySign(x.constant(2.0), x), -1.0);
  auto base = [&](double right) {
    Lanes twice = select(x < 0.0, x.constant(2.0 * right), 0.0);
    return select(half.isLarge, twice, right);
  };
  Pair sum = quickTwoSum(base(halfPi32), half.s * factor);
  Lanes low = mulAdd(half.lost, factor, sum.low + base(halfPi32Low));
  low = mulAdd(half.cubic * factor, half.q, low);
  return select(absolute(x) > 1.0, notANumber, sum.high + low);
}

Lanes emitAsin(Lanes x) {
  if (hasSinglePairs(x)) {
    return asin32(x);
  }
  if (x.width() == 32) {
    return toSingle(emitAsin(toDouble(x)));
  }
  HalfAngle half = reducedAsin(x);
  Lanes large = piHigh / 2 - (half.angle + half.angle - piLow / 2);
  return copySign(select(half.isLarge, large, half.angle), x);
}

Lanes emitAcos(Lanes x) {
  if (hasSinglePairs(x)) {
    return acos32(x);
  }
  if (x.width() == 32) {
    return toSingle(emitAcos(toDouble(x)));
  }
  HalfAngle half = reducedAsin(x);
  Lanes twice = half.angle + half.angle;
  Lanes middle = piHigh / 2 - (copySign(half.angle, x) - piLow / 2);
  Lanes far = select(x < 0.0, piHigh - (twice - piLow), twice);
  return select(half.isLarge, far, middle);
}

} // namespace nereid::lowering
