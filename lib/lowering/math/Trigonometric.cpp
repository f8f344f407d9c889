// SPDX-License-Identifier: Apache-2.0
// sin, cos, tan: polynomials on [-pi/4, pi/4], exchanged and negated by quadrant. f32 computes in
// f64 with shorter polynomials.
#include "lib/lowering/math/AngleReduction.h"
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"

namespace nereid::lowering {
namespace {

struct SineAndCosine {
  Lanes quadrant, sine, cosine; // of the reduced angle
};

SineAndCosine evaluate(Lanes x, bool isSingle) {
  ReducedAngle angle = reduceAngle(x, isSingle);
  Lanes r = angle.rest.high, low = angle.rest.low;
  Lanes z = r * r;
  if (isSingle) {
    Lanes sine = mulAdd(r * z, polynomial(z, std::span<const double>(coefficients::sin32)), r);
    Lanes cosine = mulAdd(z * z, polynomial(z, std::span<const double>(coefficients::cos32)),
                          mulAdd(z, -0.5, x.constant(1.0)));
    return {angle.quadrant, sine, cosine};
  }
  // sin(r + low) = sin(r) + low cos(r), cos(r + low) = cos(r) - low sin(r).
  Lanes halfSquare = z * 0.5;
  Lanes one = 1.0 - halfSquare;
  Lanes sineTail =
      mulAdd(r * z, polynomial(z, std::span<const double>(coefficients::sin64)), low * one);
  Lanes cosineTail = mulAdd(z * z, polynomial(z, std::span<const double>(coefficients::cos64)),
                            ((1.0 - one) - halfSquare) - r * low);
  return {angle.quadrant, r + sineTail, one + cosineTail};
}

Lanes isOdd(Lanes quadrant) { return (quadrant & 1) == quadrant.constantBits(1); }

/// Negated where bit 1 of the quadrant is set.
Lanes signedBy(Lanes quadrant, Lanes value) {
  return floatOf(bitsOf(value) ^ ((quadrant & 2) << 62));
}

} // namespace

Lanes emitSin(Lanes x) {
  bool isSingle = x.width() == 32;
  Lanes wide = isSingle ? toDouble(x) : x;
  SineAndCosine part = evaluate(wide, isSingle);
  Lanes result = signedBy(part.quadrant, select(isOdd(part.quadrant), part.cosine, part.sine));
  result = select(absolute(wide) < 0x1p-27, wide, result);
  return isSingle ? toSingle(result) : result;
}

Lanes emitCos(Lanes x) {
  bool isSingle = x.width() == 32;
  SineAndCosine part = evaluate(isSingle ? toDouble(x) : x, isSingle);
  Lanes result = signedBy(part.quadrant + part.quadrant.constantBits(1),
                          select(isOdd(part.quadrant), part.sine, part.cosine));
  return isSingle ? toSingle(result) : result;
}

Lanes emitTan(Lanes x) {
  bool isSingle = x.width() == 32;
  Lanes wide = isSingle ? toDouble(x) : x;
  SineAndCosine part = evaluate(wide, isSingle);
  Lanes odd = isOdd(part.quadrant);
  Lanes result = select(odd, -part.cosine, part.sine) / select(odd, part.sine, part.cosine);
  result = select(absolute(wide) < 0x1p-27, wide, result);
  return isSingle ? toSingle(result) : result;
}

} // namespace nereid::lowering
