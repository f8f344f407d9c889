// SPDX-License-Identifier: Apache-2.0
// erf: x + x q(x^2) near zero; further out 1 - exp(-q(x)) in f32 and 1 - exp(-x^2) q(t) in f64,
// where the complement is small and its errors with it. Neither divides in f32.
#include "lib/targets/cpu/codegen/math/Coefficients.h"
#include "lib/targets/cpu/codegen/math/Functions.h"

namespace nereid::cpu {

Lanes emitErf(Lanes x) {
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

} // namespace nereid::cpu
