// SPDX-License-Identifier: Apache-2.0
// Instructions that come within a few units of a function of one f32, as processors for graphics
// have them. A target whose processor does implements this; the functions correct what such an
// instruction leaves where docs/math.md promises more.
#pragma once

#include "lib/lowering/math/Lanes.h"

namespace nereid::lowering {

/// All functions take scalars of f32. Errors are those of normal results, relative.
class ApproximateUnit {
public:
  virtual ~ApproximateUnit() = default;

  /// 2^x within 2^-22, for every x: NaN and infinities, results that are subnormal.
  virtual Lanes powerOfTwo(Lanes x) const = 0;
  /// The same; subnormal arguments and results are taken for 0.
  virtual Lanes powerOfTwoOfNormal(Lanes x) const = 0;
  /// log2(x) within 2^-22, relative outside of (1/2, 2): -infinity of 0, NaN of negative numbers,
  /// infinity of itself. Subnormal arguments are taken for 0.
  virtual Lanes logarithmOfNormal(Lanes x) const = 0;
  /// x * factor + addend held within 0 and 1, and 0 for NaN; off by one rounding.
  virtual Lanes mulAddInUnitInterval(Lanes x, float factor, float addend) const = 0;
  /// x * factor + addend rounded downwards.
  virtual Lanes mulAddDownwards(Lanes x, float factor, float addend) const = 0;
  /// 1 / x within 2^-23; subnormal arguments and results are taken for 0.
  virtual Lanes reciprocalOfNormal(Lanes x) const = 0;
  /// a / b within 2 units in the last place, for all numbers.
  virtual Lanes quotient(Lanes a, Lanes b) const = 0;
  /// 1 / sqrt(x) within 1.5 units in the last place, for all numbers.
  virtual Lanes reciprocalSquareRoot(Lanes x) const = 0;
  /// The same; subnormal arguments are taken for 0.
  virtual Lanes reciprocalSquareRootOfNormal(Lanes x) const = 0;
};

/// The machine's when x is a scalar of f32, else null.
const ApproximateUnit *approximateUnitFor(Lanes x);

} // namespace nereid::lowering
