// SPDX-License-Identifier: Apache-2.0
// Rounding between binary floating-point formats; see the header.
#include "lib/interpreter/FloatFormat.h"

#include <bit>
#include <cmath>

namespace nereid::interpreter {

uint64_t roundToFormat(double value, FloatFormat format) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const unsigned stored = format.mantissaBits;
  const int bias = (1 << (format.exponentBits - 1)) - 1;
  const uint64_t sign = (bits >> 63) << (format.exponentBits + stored);
  const uint64_t infinity = ((uint64_t(1) << format.exponentBits) - 1) << stored;
  if (std::isnan(value)) {
    return sign | infinity | (uint64_t(1) << (stored - 1));
  }
  if (std::isinf(value)) {
    return sign | infinity;
  }
  const auto biased = static_cast<int>((bits >> 52) & 0x7ff);
  if (biased == 0) {
    return sign; // a double this small is below half of any smaller format's least number
  }
  const int exponent = biased - 1023;
  const uint64_t mantissa = (bits & ((uint64_t(1) << 52) - 1)) | (uint64_t(1) << 52);
  const int smallest = 1 - bias;
  const bool isSubnormal = exponent < smallest;
  const int shift = 52 - static_cast<int>(stored) + (isSubnormal ? smallest - exponent : 0);
  if (shift > 54) {
    return sign;
  }
  uint64_t kept = mantissa >> shift;
  const uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
  const uint64_t tie = uint64_t(1) << (shift - 1);
  if (rest > tie || (rest == tie && (kept & 1) != 0)) {
    ++kept;
  }
  // `kept` holds the implicit bit of a normal number, so a carry moves on into the exponent.
  const uint64_t scaled =
      isSubnormal ? kept : (static_cast<uint64_t>(exponent + bias - 1) << stored) + kept;
  return sign | (scaled >= infinity ? infinity : scaled);
}

double expandFromFormat(uint64_t bits, FloatFormat format) {
  const unsigned stored = format.mantissaBits;
  const int bias = (1 << (format.exponentBits - 1)) - 1;
  const uint64_t top = (uint64_t(1) << format.exponentBits) - 1;
  const bool isNegative = ((bits >> (format.exponentBits + stored)) & 1) != 0;
  const uint64_t exponent = (bits >> stored) & top;
  const uint64_t mantissa = bits & ((uint64_t(1) << stored) - 1);
  double magnitude = 0;
  if (exponent == top) {
    magnitude = mantissa != 0 ? std::nan("") : HUGE_VAL;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<double>(mantissa), 1 - bias - static_cast<int>(stored));
  } else {
    magnitude = std::ldexp(static_cast<double>(mantissa | (uint64_t(1) << stored)),
                           static_cast<int>(exponent) - bias - static_cast<int>(stored));
  }
  return std::copysign(magnitude, isNegative ? -1.0 : 1.0);
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
