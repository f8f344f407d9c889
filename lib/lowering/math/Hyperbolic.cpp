// SPDX-License-Identifier: Apache-2.0
// tanh from exp(2|x|) - 1, which stays exact for small x; the others from exp, log1p and their
// halves, in f32 as pairs; sinh and atanh of f32 beside an odd polynomial near 0. For tanh, sixteen
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

/// a + a^3 q(a^2), where what is added is a small part of a.
static Lanes oddPolynomial(Lanes a, std::span<const float> q) {
  Lanes square = a * a;
  return mulAdd(a * square, polynomial(square, q), a);
}

/// exp(a) / 4 and exp(-a) / 4 for a >= 0, so that neither overflows where a sum of both does not.
struct Quarters {
  Pair growing, falling;
};

static Quarters quartersOfExp(Lanes a) {
  ScaledPower scaled = expOfPair32({atMost(a, 89.5), a.constant(0)}); // cosh(89.5) is infinite
  Lanes scale = powerOfTwo32(scaled.bits, -2);
  Pair growing{scaled.power.high * scale, scaled.power.low * scale};
  Pair inverse = reciprocalOfPair(growing);
  return {growing, {inverse.high * 0.0625, inverse.low * 0.0625}};
}

static Lanes sinh32(Lanes x) {
  Lanes a = absolute(x);
  Quarters parts = quartersOfExp(a);
  Pair sum = quickTwoSum(parts.growing.high, -parts.falling.high);
  Lanes low = sum.low + (parts.growing.low - parts.falling.low);
  Lanes far = (sum.high + low) * 2.0;
  return copySign(select(a < 0.5, oddPolynomial(a, coefficients::sinh32Small), far), x);
}

static Lanes cosh32(Lanes x) {
  Quarters parts = quartersOfExp(absolute(x));
  Pair sum = quickTwoSum(parts.growing.high, parts.falling.high);
  return (sum.high + (sum.low + (parts.growing.low + parts.falling.low))) * 2.0;
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
