// SPDX-License-Identifier: Apache-2.0
// Instructions that no operation of LLVM stands for, on 16 f32 or 8 f64 at once. Functions have
// shorter forms with them; a target whose processor has such instructions implements them.
#pragma once

#include "lib/lowering/math/Lanes.h"

#include <optional>

namespace nereid::lowering {

/// All functions take lanes that fill a register, see instructionsFor.
class LaneInstructions {
public:
  virtual ~LaneInstructions() = default;
  static constexpr int64_t singles = 16; ///< f32 in a register

  /// x * 2^floor(n) with one rounding, for every n, infinities and NaN included.
  virtual Lanes scaleByFloor(Lanes x, Lanes n) const = 0;
  /// The smaller of |x| and the limit, with the sign of x; the limit for NaN.
  virtual Lanes boundMagnitude(Lanes x, double limit) const = 0;
  /// The larger or smaller, the number when the other is NaN.
  virtual Lanes largerNumber(Lanes a, Lanes b) const = 0;
  virtual Lanes smallerNumber(Lanes a, Lanes b) const = 0;
  /// Of 16 f32: entry number (index modulo 16) in each lane.
  virtual Lanes lookUp(std::span<const float> table, Lanes indices, Lanes like) const = 0;
  /// f32 to the bits of bf16, rounded to nearest even; nothing where there is no instruction.
  virtual std::optional<Lanes> bf16FromSingle(Lanes number) const = 0;
};

/// The machine's instructions when x fills one of their registers with f32 or f64, else null.
const LaneInstructions *instructionsFor(Lanes x);

/// Of 16 f32: polynomials of t whose coefficients differ from lane to lane, one row for each power,
/// lowest first. Pairs of powers side by side: half as long to wait as Horner's scheme.
Lanes intervalPolynomial(const LaneInstructions &instructions, std::span<const float[16]> rows,
                         Lanes indices, Lanes t);

} // namespace nereid::lowering
