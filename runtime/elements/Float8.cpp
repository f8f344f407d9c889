// SPDX-License-Identifier: Apache-2.0
// Conversions of the 8-bit floats by arithmetic on the exponent; every step is exact but the one
// rounding to the format's grid.
#include "runtime/elements/Float8.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace nereid {
namespace {

struct Format {
  int mantissaBits, bias;
  uint8_t largest;    ///< code of the largest finite number
  uint8_t nan;        ///< the NaN that conversions make; its sign bit is added where zero has two
  bool hasSignedZero; ///< otherwise the code 0x80 is the only NaN
};

const Format &formatOf(DType type) {
  static constexpr Format e4m3fn = {3, 7, 0x7E, 0x7F, true};
  static constexpr Format e5m2 = {2, 15, 0x7B, 0x7F, true};
  static constexpr Format e4m3fnuz = {3, 8, 0x7F, 0x80, false};
  static constexpr Format e5m2fnuz = {2, 16, 0x7F, 0x80, false};
  static constexpr Format e4b15 = {3, 15, 0x7F, 0x7F, true};
  return type == DType::F8E4M3FN     ? e4m3fn
         : type == DType::F8E5M2     ? e5m2
         : type == DType::F8E4M3FNUZ ? e4m3fnuz
         : type == DType::F8E4B15    ? e4b15
                                     : e5m2fnuz;
}

/// Rounds a value at least 0 and below 2^52 to an integer; the floating-point environment is not
/// consulted.
uint64_t roundToEven(double value) {
  const auto whole = static_cast<uint64_t>(value);
  const double rest = value - static_cast<double>(whole);
  return whole + (rest > 0.5 || (rest == 0.5 && (whole & 1)) ? 1 : 0);
}

/// Triton's conversion of a magnitude: cut to the bits of a float16, of which the highest exponent
/// bit is 0 and the last seven mantissa bits are rounded off.
uint8_t toE4B15(double magnitude) {
  constexpr double largestMade = 1.75;
  constexpr int least = -14, mantissaBits = 10;
  if (!(magnitude < largestMade)) { // NaN too
    return 0x7E;
  }
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  const auto units = static_cast<uint32_t>(std::ldexp(magnitude, mantissaBits - exponent));
  const uint32_t half = units + (static_cast<uint32_t>(exponent - least) << mantissaBits);
  return static_cast<uint8_t>((half + 0x40) >> 7);
}

} // namespace

uint8_t toFloat8(double value, DType type) {
  const Format &format = formatOf(type);
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (type == DType::F8E4B15) {
    return sign | toE4B15(std::fabs(value));
  }
  if (std::isnan(value)) {
    return format.hasSignedZero ? static_cast<uint8_t>(sign | format.nan) : format.nan;
  }
  const double magnitude = std::fabs(value);
  uint64_t code = format.largest;
  if (magnitude < 0x1p20) {
    // The unit in the last place; below the normal range it stays that of exponent field 1.
    const int least = 1 - format.bias;
    const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
    const uint64_t units = roundToEven(std::ldexp(magnitude, format.mantissaBits - exponent));
    // Rounding up to the next power of two carries into the exponent field by the addition.
    code = units + (static_cast<uint64_t>(exponent - least) << format.mantissaBits);
    code = std::min<uint64_t>(code, format.largest);
  }
  return !format.hasSignedZero && code == 0 ? 0 : static_cast<uint8_t>(sign | code);
}

float fromFloat8(uint8_t bits, DType type) {
  const Format &format = formatOf(type);
  const uint8_t magnitude = bits & 0x7F;
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (format.hasSignedZero ? magnitude > format.largest : bits == 0x80) {
    const bool isInfinity = type == DType::F8E5M2 && magnitude == 0x7C;
    return sign * (isInfinity ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN());
  }
  const int exponent = magnitude >> format.mantissaBits;
  const int mantissa = magnitude & ((1 << format.mantissaBits) - 1);
  const int hidden = exponent == 0 ? 0 : 1 << format.mantissaBits;
  return sign * std::ldexp(static_cast<float>(mantissa + hidden),
                           std::max(exponent, 1) - format.bias - format.mantissaBits);
}

} // namespace nereid
