// SPDX-License-Identifier: Apache-2.0
// tanh from exp(2|x|) - 1, which stays exact for small x; the others in f64 from exp, log1p and
// their halves. Sixteen f32 with instructions for it have a polynomial for each of fourteen
// intervals instead; a unit that approximates exponentials and reciprocals has those.
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/LaneInstructions.h"

#include <limits>
#include <span>

namespace nereid::lowering {
namespace {

constexpr double ln2 = 0.6931471805599453;
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

Lanes emitSinh(Lanes x) {
  if (x.width() == 32) {
    return toSingle(emitSinh(toDouble(x)));
  }
  Lanes a = absolute(x);
  Lanes e = emitExpm1(a);
  Lanes result = select(a > 36.0, halfExp(a), (e + e / (e + 1.0)) * 0.5);
  return copySign(result, x);
}

Lanes emitCosh(Lanes x) {
  if (x.width() == 32) {
    return toSingle(emitCosh(toDouble(x)));
  }
  Lanes a = absolute(x);
  Lanes e = emitExp(a);
  return select(a > 36.0, halfExp(a), (e + 1.0 / e) * 0.5);
}

Lanes emitAsinh(Lanes x) {
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
  if (x.width() == 32) {
    return toSingle(emitAcosh(toDouble(x)));
  }
  Lanes t = x - 1.0;
  Lanes near = emitLog1p(t + squareRoot(mulAdd(t, t, t + t)));
  Lanes result = select(x > 0x1p28, emitLog(x) + ln2, near);
  return select(x < 1.0, notANumber, result);
}

Lanes emitAtanh(Lanes x) {
  if (x.width() == 32) {
    return toSingle(emitAtanh(toDouble(x)));
  }
  Lanes a = absolute(x);
  return copySign(emitLog1p((a + a) / (1.0 - a)) * 0.5, x);
}

} // namespace nereid::lowering
