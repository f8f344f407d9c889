// SPDX-License-Identifier: Apache-2.0
// erf: x + x q(x^2) near zero; further out 1 - exp(-q(x)) in f32 and 1 - exp(-x^2) q(t) in f64,
// where the complement is small and its errors with it. Neither divides in f32. Sixteen f32 with
// instructions for it: a short polynomial for each of sixteen intervals, whose coefficients are
// permutes.
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/LaneInstructions.h"

#include <iterator>
#include <span>

namespace nereid::lowering {

/// Half the instructions of the two ranges: no exponential, no second polynomial to choose from.
static Lanes erfByIntervals(const LaneInstructions &instructions, Lanes x) {
  constexpr double step = coefficients::erf32Step;
  constexpr double magic = 12582912.0; // leaves a number rounded to an integer in the low bits
  // Beyond the last interval erf rounds to 1.
  Lanes a = atMost(absolute(x), 15.49 * step);
  Lanes withMagic = mulAdd(a, 1.0 / step, a.constant(magic));
  Lanes number = withMagic - magic;
  Lanes interval = bitsOf(withMagic);
  Lanes t = mulAdd(number, -step, a);
  // Horner's scheme: with pairs of powers side by side the error is 1.6 ulp, and GELU no quicker.
  constexpr int powers = std::size(coefficients::erf32Table);
  Lanes q = instructions.lookUp(coefficients::erf32Table[powers - 1], interval, t);
  for (int power = powers - 2; power > 0; --power) {
    q = mulAdd(q, t, instructions.lookUp(coefficients::erf32Table[power], interval, t));
  }
  // Near 0 the result is small, and exact relative to itself: t is x there.
  Lanes first =
      select(number == 0.0, t, instructions.lookUp(coefficients::erf32Table[0], interval, t));
  return copySign(mulAdd(q, t, first), x);
}

Lanes emitErf(Lanes x) {
  if (const LaneInstructions *instructions = x.width() == 32 ? instructionsFor(x) : nullptr) {
    return erfByIntervals(*instructions, x);
  }
  Lanes a = absolute(x);
  Lanes z = x * x;
  if (x.width() == 32) {
    Lanes small = mulAdd(x, polynomial(z, std::span<const float>(coefficients::erf32Small)), x);
    // erf(3.9375) rounds to 1.
    Lanes exponent =
        polynomial(atMost(a, 3.9375), std::span<const float>(coefficients::erf32Large));
    Lanes large = 1.0 - expInRange32(-exponent);
    return select(a < 0.921875, small, copySign(large, x));
  }
  Lanes small = mulAdd(x, polynomial(z, std::span<const double>(coefficients::erf64Small)), x);
  Lanes c = atMost(a, 6.0);
  Lanes t = (c - 2.0) / (c + 2.0);
  Lanes complement =
      emitExp(-(c * c)) * polynomial(t, std::span<const double>(coefficients::erf64Large));
  return select(a < 1.0, small, copySign(1.0 - complement, x));
}

} // namespace nereid::lowering
