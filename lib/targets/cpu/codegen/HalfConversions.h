// SPDX-License-Identifier: Apache-2.0
// Conversions between 16-bit floats, held as i16 lanes, and f32 or f64, for cpu-expand-half. All
// round once, to nearest even; NaN stays NaN.
#pragma once

#include "lib/targets/cpu/codegen/math/Lanes.h"

namespace nereid::cpu {

/// i16 lanes to f32, exact.
Lanes decodeHalf(Lanes bits, bool isBf16);
/// f32 or f64 lanes to i16.
Lanes encodeHalf(Lanes number, bool isBf16);
/// Integers of any width to f64 in a way that a further rounding to 16 bits rounds only once.
Lanes integerToDouble(Lanes integers, bool isSigned);

} // namespace nereid::cpu
