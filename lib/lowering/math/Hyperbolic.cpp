// SPDX-License-Identifier: Apache-2.0
// tanh from exp(2|x|) - 1, which stays exact for small x; the others from exp, log1p and their
// halves; in f32 sinh and cosh from those of a multiple of ln(2), which are exact, and of the rest,
// their inverses from a quotient whose numerator is exact. For tanh, sixteen
// f32 with instructions for it have a polynomial for each of fourteen intervals instead; a unit
// that approximates exponentials and reciprocals has those.
#include "lib/lowering/Branches.h"
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/LaneInstructions.h"
#include "lib/lowering/math/SinglePairs.h"

#include <limits>
#include <span>

namespace nereid::lowering {
namespace {

constexpr double ln2 = 0.6931471805599453;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// exp(a)/2 where exp(a) itself may be infinite.
Lanes halfExp(Lanes a) {
  Lanes root = emitExp(a * 0.5);
  return root * 0.5 * root;
}

} // namespace

/// Neither an exponential nor a division to wait for.
static Lanes tanhByIntervals(const LaneInstructions &instructions, Lanes x) {
  using coefficients::tanh32Table;
  constexpr double firstInterval = 0.125;
  constexpr unsigned belowFirstBits = 22; // of the mantissa but its first bit
  Lanes a = atMost(absolute(x), 9.5);
  Lanes isNear = a < firstInterval;
  Lanes bits = bitsOf(select(isNear, 0.75 * firstInterval, a));
  Lanes interval = shiftRight(bits, belowFirstBits);
  Lanes t = a - instructions.lookUp(tanh32Table[0], interval, a);
  Lanes q = intervalPolynomial(instructions, std::span(tanh32Table).subspan(2), interval, t);
  Lanes first = select(isNear, t, instructions.lookUp(tanh32Table[1], interval, a));
  return copySign(mulAdd(q, t, first), x);
}

/// 1 - 2 / (exp(2x) + 1), and near 0, where that cancels, a polynomial.
static Lanes tanhByUnit(const ApproximateUnit &unit, Lanes x) {
  Lanes a = absolute(x), z = x * x;
  Lanes near = mulAdd(x * z, polynomial(z, std::span<const float>(coefficients::tanh32Small)), x);
  Lanes half = unit.reciprocalOfNormal(expInRange32(a + a) + 1.0);
  Lanes far = copySign(mulAdd(half, -2.0, half.constant(1.0)), x);
  return select(a < 0.55, near, far);
}

Lanes emitTanh(Lanes x) {
  if (const ApproximateUnit *unit = approximateUnitFor(x)) {
    return tanhByUnit(*unit, x);
  }
  if (const LaneInstructions *instructions = x.width() == 32 ? instructionsFor(x) : nullptr) {
    return tanhByIntervals(*instructions, x);
  }
  // tanh(10) and tanh(20) round to 1.
  Lanes a = atMost(absolute(x), x.width() == 32 ? 10.0 : 20.0);
  Lanes e = expm1InRange(a + a);
  return copySign(e / (e + 2.0), x);
}

/// Of a >= 0, which is n ln(2) + r with |r| at most half of ln(2).
struct HyperbolicParts {
  Lanes rest;                  // r as a number, exactly, where what follows has what it lacks
  Lanes sine, cosine;          // sinh(r) less that number, cosh(r) - 1
  Pair wholeSine, wholeCosine; // halves of sinh(n ln(2)) and cosh(n ln(2)), which do not overflow
};

static HyperbolicParts hyperbolicParts(Lanes a) {
  constexpr double log2OfE = 1.4426950408889634, ln2High = 0x1.62e43p-1, ln2Low = -0x1.05c61p-29;
  constexpr uint64_t quarter = uint64_t(125) << 23;            // 2^-2
  Lanes size = atMost(a, 89.5);                                // cosh(89.5) is infinite
  Lanes magic = mulAdd(size, log2OfE, a.constant(12582912.0)); // 1.5 * 2^23
  Lanes n = magic - 12582912.0;
  Lanes r = mulAdd(n, -ln2High, size), low = n * -ln2Low;
  Lanes square = r * r;
  Lanes cosine = mulAdd(square, polynomial(square, coefficients::cosh32Small), r * low);
  Lanes sine =
      mulAdd(r * square, polynomial(square, coefficients::sinh32Small), mulAdd(low, cosine, low));
  Lanes shift = bitsOf(magic) << 23;
  Lanes growing = floatOf(shift + shift.constantBits(quarter));
  Lanes fallingBits = shift.constantBits(quarter) - shift; // negative below the normal numbers
  Lanes zero = shift.constantBits(0);
  Lanes falling = floatOf(select(fallingBits < zero, zero, fallingBits));
  return {r, sine, cosine, quickTwoSum(growing, -falling), quickTwoSum(growing, falling)};
}

/// Twice main (1 + cosine) + other (rest + sine), where 0 or the larger one is `main`.
static Lanes twiceSum(const HyperbolicParts &parts, Pair main, Pair other) {
  Pair product = twoProduct(other.high, parts.rest);
  Pair sum = quickTwoSum(main.high, product.high);
  Lanes low = mulAdd(other.low, parts.rest, product.low + main.low);
  low = mulAdd(main.high, parts.cosine, mulAdd(other.high, parts.sine, low));
  // Not half of it times 2, which would become part of a sum that never sees its infinity.
  return mulAdd(sum.high, 2.0, (sum.low + low) * 2.0);
}

static Lanes sinh32(Lanes x) {
  Lanes a = absolute(x);
  HyperbolicParts parts = hyperbolicParts(a);
  Lanes result = twiceSum(parts, parts.wholeSine, parts.wholeCosine);
  return copySign(select(a < 0x1p-12, a, result), x); // halves of subnormal numbers are rounded
}

static Lanes cosh32(Lanes x) {
  HyperbolicParts parts = hyperbolicParts(absolute(x));
  return twiceSum(parts, parts.wholeCosine, parts.wholeSine);
}

/// From here on asinh and acosh are log(2 x), and x^2 may overflow.
constexpr double fromLogarithm = 0x1p60;

static Lanes logOfTwice(Lanes x) {
  Pair logarithm = logOfPair32({x, x.constant(0)}, x.constant(1.0));
  return select(x < infinity, logarithm.high + logarithm.low, x);
}

/// With 2^k near exp(y), where y is the result, tanh((y - k ln(2)) / 2) is
/// (sinh(y) - sinh(k ln(2))) / (cosh(y) + cosh(k ln(2))), whose numerator is exact.
static Lanes asinh32(Lanes x) {
  Lanes a = absolute(x), half = a * 0.5;
  Lanes square = mulAdd(half, half, a.constant(0.25));
  Pair cosine = rootOfPositivePair({square, mulAdd(half, half, 0.25 - square)}); // cosh(y) / 2
  PowerOfTwo32 power = powerOfTwoNear32(mulAdd(cosine.high, 2.0, a));
  Lanes difference = mulAdd(power.quarter - power.inverse, -2.0, a);
  Pair sum = quickTwoSum(power.quarter + power.inverse, cosine.high);
  Lanes near = logBesidePower32(power, difference, {sum.high, sum.low + cosine.low});
  Lanes result = unlessRare(a > fromLogarithm, near, [&] { return logOfTwice(a); });
  return copySign(result, x);
}

/// Likewise, with sinh and cosh exchanged. The root is one of x - 1, which is exact, and NaN below.
static Lanes acosh32(Lanes x) {
  Lanes half = mulAdd(x - 1.0, 0.5, x.constant(0x1p-100)); // the root of 0 need not be 0
  Lanes size = absolute(half);
  Lanes square = mulAdd(half, size, half);
  Pair sine = rootOfPositivePair({square, mulAdd(half, size, half - square)}); // sinh(y) / 2
  PowerOfTwo32 power = powerOfTwoNear32(mulAdd(sine.high, 2.0, x));
  Lanes difference = mulAdd(power.inverse, -2.0, mulAdd(power.quarter, -2.0, x));
  Pair sum = quickTwoSum(power.quarter - power.inverse, sine.high);
  Lanes near = logBesidePower32(power, difference, {sum.high, sum.low + sine.low});
  return unlessRare(x > fromLogarithm, near, [&] { return logOfTwice(x); });
}

static Lanes atanh32(Lanes x) {
  Lanes a = absolute(x), result = atanhOfSize32(a);
  if (const ApproximateUnit *unit = approximateUnitFor(x)) {
    // Of 0 and of negative numbers; the sign is that of x.
    result = select(a < 1.0, result, unit->logarithmOfNormal(1.0 - a));
  } else {
    result = select(a < 1.0, result, select(a == 1.0, infinity, a.constant(notANumber)));
  }
  return copySign(result, x);
}

Lanes emitSinh(Lanes x) {
  if (hasSinglePairs(x)) {
    return sinh32(x);
  }
  if (x.width() == 32) {
    return toSingle(emitSinh(toDouble(x)));
  }
  Lanes a = absolute(x);
  Lanes e = emitExpm1(a);
  Lanes result = select(a > 36.0, halfExp(a), (e + e / (e + 1.0)) * 0.5);
  return copySign(result, x);
}

Lanes emitCosh(Lanes x) {
  if (hasSinglePairs(x)) {
    return cosh32(x);
  }
  if (x.width() == 32) {
    return toSingle(emitCosh(toDouble(x)));
  }
  Lanes a = absolute(x);
  Lanes e = emitExp(a);
  return select(a > 36.0, halfExp(a), (e + 1.0 / e) * 0.5);
}

Lanes emitAsinh(Lanes x) {
  if (hasSinglePairs(x)) {
    return asinh32(x);
  }
  if (x.width() == 32) {
    return toSingle(emitAsinh(toDouble(x)));
  }
  Lanes a = absolute(x);
  Lanes square = a * a;
  Lanes near = emitLog1p(a + square / (squareRoot(square + 1.0) + 1.0));
  Lanes result = select(a > 0x1p28, emitLog(a) + ln2, near);
  return copySign(result, x);
}

Lanes emitAcosh(Lanes x) {
  if (hasSinglePairs(x)) {
    return acosh32(x);
  }
  if (x.width() == 32) {
    return toSingle(emitAcosh(toDouble(x)));
  }
  Lanes t = x - 1.0;
  Lanes near = emitLog1p(t + squareRoot(mulAdd(t, t, t + t)));
  Lanes result = select(x > 0x1p28, emitLog(x) + ln2, near);
  return select(x < 1.0, notANumber, result);
}

Lanes emitAtanh(Lanes x) {
  if (hasSinglePairs(x)) {
    return atanh32(x);
  }
  if (x.width() == 32) {
    return toSingle(emitAtanh(toDouble(x)));
  }
  Lanes a = absolute(x);
  return copySign(emitLog1p((a + a) / (1.0 - a)) * 0.5, x);
}

} // namespace nereid::lowering
