// SPDX-License-Identifier: Apache-2.0
// Conversions between floats of 16 or 8 bits, held as integer lanes of their bits, and f32 or f64,
// for expand-half. All round once, to nearest even unless said otherwise; NaN stays NaN.
#pragma once

#include "lib/lowering/math/Lanes.h"

namespace nereid::lowering {

/// i16 or i8 lanes of the float type `format` to f32, exact.
Lanes decodeNarrow(Lanes bits, mlir::Type format);
/// f32 or f64 lanes to the bits of `format`. 8-bit floats saturate (see Float8Conversions.h).
Lanes encodeNarrow(Lanes number, mlir::Type format);
/// The same, rounding towards zero: what is too large becomes the largest finite number.
Lanes encodeTowardZero(Lanes number, mlir::Type format);
/// f64 lanes to f32, rounding towards zero.
Lanes singleTowardZero(Lanes number);
/// Integers of any width to f64 in a way that a further rounding to 16 or 8 bits rounds only once.
Lanes integerToDouble(Lanes integers, bool isSigned);

} // namespace nereid::lowering
