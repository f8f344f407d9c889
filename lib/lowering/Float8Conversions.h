// SPDX-License-Identifier: Apache-2.0
// Conversions between the 8-bit floats, held as i8 lanes, and f32 or f64, for expand-half.
// They give the very bits of runtime/elements/Float8.h: one rounding to nearest even, saturation at
// the largest finite number, NaN stays NaN.
#pragma once

#include "lib/lowering/math/Lanes.h"

namespace nereid::lowering {

/// i8 lanes of the 8-bit float `format` to f32, exact.
Lanes decodeFloat8(Lanes bits, mlir::Type format);
/// f32 lanes to i8. A number that was rounded to odd before is rounded correctly.
Lanes encodeFloat8(Lanes number, mlir::Type format);

/// The format has one zero and, in the place of the other, its only NaN.
bool hasNanForNegativeZero(mlir::Type format);

} // namespace nereid::lowering
