// SPDX-License-Identifier: Apache-2.0
// Rounding between binary floating-point formats; see the header.
#include "lib/interpreter/FloatFormat.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace nereid::interpreter {

uint64_t FloatFormat::largest() const {
  switch (specials) {
  case Specials::IEEE:
    return infinity() - 1;
  case Specials::OnlyNaN:
    return (uint64_t(1) << magnitudeBits()) - 2;
  case Specials::MinusZero:
    break;
  }
  return (uint64_t(1) << magnitudeBits()) - 1;
}

uint64_t FloatFormat::infinity() const {
  return ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
}

uint64_t FloatFormat::notANumber(bool isNegative) const {
  const uint64_t sign = uint64_t(1) << magnitudeBits();
  switch (specials) {
  case Specials::IEEE:
    return (isNegative ? sign : 0) | infinity() | (uint64_t(1) << (mantissaBits - 1));
  case Specials::OnlyNaN:
    return (isNegative ? sign : 0) | (sign - 1);
  case Specials::MinusZero:
    break;
  }
  return sign;
}

/// Whether a number cut off behind `kept` moves one away from zero; `rest` is what was cut off and
/// `tie` half of a unit of `kept`.
static bool roundsAway(Rounding rounding, bool isNegative, uint64_t kept, uint64_t rest,
                       uint64_t tie) {
  switch (rounding) {
  case Rounding::NearestEven:
    return rest > tie || (rest == tie && (kept & 1) != 0);
  case Rounding::NearestAway:
    return rest >= tie;
  case Rounding::TowardZero:
    return false;
  case Rounding::Upward:
    return rest != 0 && !isNegative;
  case Rounding::Downward:
    return rest != 0 && isNegative;
  }
  return false;
}

uint64_t roundToFormat(double value, FloatFormat format, Rounding rounding) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const unsigned stored = format.mantissaBits;
  const bool isNegative = std::signbit(value);
  const uint64_t sign = isNegative ? uint64_t(1) << format.magnitudeBits() : 0;
  if (std::isnan(value)) {
    return format.notANumber(isNegative);
  }
  if (std::isinf(value)) {
    return sign | (format.saturates ? format.largest() : format.infinity());
  }
  const auto biased = static_cast<int>((bits >> 52) & 0x7ff);
  const int exponent = (biased == 0 ? 1 : biased) - 1023;
  const uint64_t mantissa =
      (bits & ((uint64_t(1) << 52) - 1)) | (biased == 0 ? 0 : uint64_t(1) << 52);
  const int smallest = 1 - format.bias;
  const bool isSubnormal = exponent < smallest;
  // With a shift of 60 nothing is kept and the rest is below the tie, as with any larger one.
  const int shift =
      std::min(60, 52 - static_cast<int>(stored) + (isSubnormal ? smallest - exponent : 0));
  uint64_t kept = mantissa >> shift;
  const uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
  const uint64_t tie = uint64_t(1) << (shift - 1);
  if (roundsAway(rounding, isNegative, kept, rest, tie)) {
    ++kept;
  }
  // `kept` holds the implicit bit of a normal number, so a carry moves on into the exponent.
  const uint64_t scaled =
      isSubnormal ? kept : (static_cast<uint64_t>(exponent + format.bias - 1) << stored) + kept;
  if (scaled > format.largest()) {
    const bool awayFromZero = roundsAway(rounding, isNegative, 1, 1, 1);
    return sign | (format.saturates || !awayFromZero ? format.largest() : format.infinity());
  }
  return scaled == 0 && format.specials == Specials::MinusZero ? 0 : sign | scaled;
}

double expandFromFormat(uint64_t bits, FloatFormat format) {
  const unsigned stored = format.mantissaBits;
  const uint64_t signBit = uint64_t(1) << format.magnitudeBits();
  const bool isNegative = (bits & signBit) != 0;
  const uint64_t magnitude = bits & (signBit - 1);
  const uint64_t exponent = magnitude >> stored;
  const uint64_t mantissa = magnitude & ((uint64_t(1) << stored) - 1);
  const bool isTopmost = format.specials == Specials::MinusZero ? magnitude == 0 && isNegative
                                                                : magnitude > format.largest();
  double number = 0;
  if (isTopmost) {
    const bool isInfinite = format.specials == Specials::IEEE && magnitude == format.infinity();
    number = isInfinite ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    number = std::ldexp(static_cast<double>(mantissa), 1 - format.bias - static_cast<int>(stored));
  } else {
    number = std::ldexp(static_cast<double>(mantissa | (uint64_t(1) << stored)),
                        static_cast<int>(exponent) - format.bias - static_cast<int>(stored));
  }
  return std::copysign(number, isNegative ? -1.0 : 1.0);
}

double stickyDouble(uint64_t value) {
  if (value >> 53 == 0) {
    return static_cast<double>(value);
  }
  // 2^53 and more: keep 53 bits and let the last one say whether any bit below it was set.
  const uint64_t sticky = (value >> 11) | ((value & 0x7ff) != 0 ? 1 : 0);
  return static_cast<double>(sticky) * 2048.0;
}

double stickyDouble(int64_t value) {
  const uint64_t magnitude =
      value < 0 ? uint64_t(0) - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const double result = stickyDouble(magnitude);
  return value < 0 ? -result : result;
}

double stickyFma(double a, double b, double c) {
  const double product = a * b; // exact: at most 48 bits
  const double sum = product + c;
  if (!std::isfinite(sum)) {
    return sum;
  }
  // Knuth's two-sum gives what the addition lost; then round to odd instead of to nearest.
  const double partOfC = sum - product;
  const double lost = (product - (sum - partOfC)) + (c - partOfC);
  if (lost == 0 || (std::bit_cast<uint64_t>(sum) & 1) != 0) {
    return sum;
  }
  return std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
}

} // namespace nereid::interpreter
