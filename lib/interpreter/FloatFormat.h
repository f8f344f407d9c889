// SPDX-License-Identifier: Apache-2.0
// Rounding a double to a smaller floating-point format and back, in integer arithmetic. The oracle
// has its own code for this on purpose: a mistake in the runtime's conversions must not hide in
// both.
#pragma once

#include <cstdint>

namespace nereid::interpreter {

/// Which bit patterns are no finite numbers.
enum class Specials : uint8_t {
  IEEE,     ///< the topmost exponent: infinities and NaNs
  OnlyNaN,  ///< the topmost pattern of either sign is NaN; there is no infinity
  MinusZero ///< the pattern of minus zero is the only NaN; there is neither infinity nor -0
};

struct FloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits; ///< stored ones
  int bias;
  Specials specials = Specials::IEEE;
  bool saturates = false; ///< numbers beyond the largest become it when rounded, infinities too

  unsigned magnitudeBits() const { return exponentBits + mantissaBits; }
  uint64_t largest() const;
  uint64_t infinity() const; ///< IEEE formats only
  uint64_t notANumber(bool isNegative) const;
};

inline constexpr FloatFormat half{5, 10, 15};
inline constexpr FloatFormat brain{8, 7, 127};
inline constexpr FloatFormat single{8, 23, 127};
inline constexpr FloatFormat e4m3fn{4, 3, 7, Specials::OnlyNaN, true};
inline constexpr FloatFormat e5m2{5, 2, 15, Specials::IEEE, true};
inline constexpr FloatFormat e4m3fnuz{4, 3, 8, Specials::MinusZero, true};
inline constexpr FloatFormat e5m2fnuz{5, 2, 16, Specials::MinusZero, true};

enum class Rounding : uint8_t { NearestEven, NearestAway, TowardZero, Upward, Downward };

/// In one rounding. Overflow gives infinity, or the largest number where the format saturates or
/// the direction says so; NaN gives the format's quiet NaN, of the same sign where it has two.
uint64_t roundToFormat(double value, FloatFormat format, Rounding rounding = Rounding::NearestEven);
/// Exact.
double expandFromFormat(uint64_t bits, FloatFormat format);

/// A double that rounds to any format of at most 24 mantissa bits as the integer itself does.
double stickyDouble(int64_t value);
double stickyDouble(uint64_t value);

/// a*b + c for a and b of at most 24 significant bits, again safe to round once more.
double stickyFma(double a, double b, double c);

} // namespace nereid::interpreter
