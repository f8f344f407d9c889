// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/math/ForHalves.h"

#include "lib/lowering/Branches.h"
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/Magnitudes.h"
#include "lib/lowering/math/angles/Tangent.h"

namespace nereid::lowering {
namespace {

constexpr double halfPi = 1.5707963267948966;

/// Halves of exp(|x|) and of exp(-|x|), which is 0 where the former is infinite.
struct HalfExponentials {
  Lanes growing, falling;
};

HalfExponentials halfExponentials(Lanes x) {
  constexpr double log2OfE = 1.4426950408889634;
  const ApproximateUnit *unit = approximateUnitFor(x);
  // Half of the power, as it may be finite where the power is not.
  Lanes growing = unit->powerOfTwoOfNormal(mulAdd(absolute(x), log2OfE, x.constant(-1.0)));
  return {growing, unit->reciprocalOfNormal(growing) * 0.25};
}

/// Of |rest| <= pi/4 beside a multiple of pi/2, of which the low bit counts; -0 stays what it is.
Lanes tangentBeside(Lanes quadrant, Lanes rest) {
  Lanes z = rest * rest;
  Lanes tangent =
      mulAdd(rest * z, polynomial(z, std::span<const float>(coefficients::tanToHalf)), rest);
  Lanes isOdd = (quadrant & 1) == quadrant.constantBits(1);
  return select(isOdd, -approximateUnitFor(rest)->reciprocalOfNormal(tangent), tangent);
}

/// Of angles up to largestNear32.
Lanes tangentOfNear(Lanes x) {
  constexpr double roundingMagic = 12582912.0; // 1.5 * 2^23
  // Multiples of the first part leave the angle exactly; none is negative, so that -0 stays.
  constexpr double halfPi1 = 0x1.921fb4p+0, halfPi2 = 0x1.4442dp-24, halfPi3 = 0x1.84698ap-48;
  Lanes magic = mulAdd(x, 1 / halfPi, x.constant(roundingMagic));
  Lanes n = magic - roundingMagic;
  Lanes rest = mulAdd(n, -halfPi3, mulAdd(n, -halfPi2, mulAdd(n, -halfPi1, x)));
  return tangentBeside(bitsOf(magic), rest);
}

Lanes tangentOfFar(Lanes x) {
  ReducedAngle32 angle = reduceFar32(x);
  return tangentBeside(angle.quadrant, angle.rest);
}

/// asin(|x|), or where |x| is above 1/2 half of acos(|x|); NaN of what is above 1.
struct HalfAngle {
  Lanes isLarge, angle;
};

HalfAngle halfAngle(Lanes x) {
  constexpr double tiny = 0x1p-80; // beside 0; below what any 1 - |x| is else
  Lanes a = absolute(x);
  Lanes isLarge = a > 0.5;
  Lanes z = select(isLarge, mulAdd(a, -0.5, a.constant(0.5)), a * a);
  Lanes root = z * approximateUnitFor(x)->reciprocalSquareRootOfNormal(z + tiny);
  Lanes s = select(isLarge, root, a);
  return {isLarge,
          mulAdd(s * z, polynomial(z, std::span<const float>(coefficients::asinToHalf)), s)};
}

} // namespace

Lanes log10ToHalf(Lanes x) { return emitLog(x) * 0x1.bcb7b1526e50ep-2; }

Lanes sinhToHalf(Lanes x) {
  Lanes z = x * x;
  Lanes near = mulAdd(x * z, polynomial(z, std::span<const float>(coefficients::sinh32Small)), x);
  HalfExponentials halves = halfExponentials(x);
  return select(absolute(x) < 0.35, near, copySign(halves.growing - halves.falling, x));
}

Lanes coshToHalf(Lanes x) {
  HalfExponentials halves = halfExponentials(x);
  return halves.growing + halves.falling;
}

Lanes tanToHalf(Lanes x) {
  Lanes near = tangentOfNear(x);
  return wasFloat16(x.get())
             ? near
             : unlessRare(absolute(x) > largestNear32, near, [&] { return tangentOfFar(x); });
}

Lanes asinToHalf(Lanes x) {
  HalfAngle half = halfAngle(x);
  return copySign(select(half.isLarge, mulAdd(half.angle, -2.0, x.constant(halfPi)), half.angle),
                  x);
}

Lanes acosToHalf(Lanes x) {
  HalfAngle half = halfAngle(x);
  Lanes twice = half.angle + half.angle;
  Lanes large = select(x < 0.0, 2 * halfPi - twice, twice);
  return select(half.isLarge, large, halfPi - copySign(half.angle, x));
}

} // namespace nereid::lowering
