// SPDX-License-Identifier: Apache-2.0
// The five floating-point formats of 8 bits: a sign, 4 or 5 exponent bits, 3 or 2 mantissa bits.
//
//   type        exponent bias  largest  infinity  NaN                  zero
//   F8E4M3FN    4 bits   7       448    none      all bits but sign    +0 and -0
//   F8E5M2      5 bits  15     57344    as IEEE   as IEEE              +0 and -0
//   F8E4M3FNUZ  4 bits   8       240    none      0x80 (IEEE's -0)     +0
//   F8E5M2FNUZ  5 bits  16     57344    none      0x80                 +0
//   F8E4B15     4 bits  15     1.875    none      none                 +0 and -0
//
// Sources: Micikevicius et al., FP8 Formats for Deep Learning, arXiv 2209.05433, for the first two;
// Noune et al., 8-bit Numerical Formats for Deep Neural Networks, arXiv 2206.02915, for the next
// two. F8E4B15 is Triton's own: the upper half of a float16 without the highest exponent bit.
//
// What conversions to F8E4B15 do is what Triton's code for NVIDIA's chips does
// (convert_custom_float8 in triton/language/extra/cuda/utils.py): the number goes to float16 toward
// zero, to 1.75 where it is larger or NaN, and then to the nearest number, of two equally near to
// the larger magnitude. So they never make 1.875.
#pragma once

#include "runtime/elements/DType.h"

namespace nereid {

/// Rounds to nearest even, once, but for F8E4B15 (above). What lies beyond the largest finite
/// number, infinities included, becomes that number; NaN stays NaN. `type` is an 8-bit float.
uint8_t toFloat8(double value, DType type);

/// Exact: float32 holds every number of these formats.
float fromFloat8(uint8_t bits, DType type);

} // namespace nereid
