// SPDX-License-Identifier: Apache-2.0
// Rounding a double to a smaller IEEE format and back, in integer arithmetic. The oracle has its
// own code for this on purpose: a mistake in the runtime's conversions must not hide in both.
#pragma once

#include <cstdint>

namespace nereid::interpreter {

struct FloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits; ///< stored ones
};

inline constexpr FloatFormat half{5, 10};
inline constexpr FloatFormat brain{8, 7};

/// Nearest, ties to even, in one rounding; overflow gives infinity, NaN the quiet NaN of its sign.
uint64_t roundToFormat(double value, FloatFormat format);
/// Exact.
double expandFromFormat(uint64_t bits, FloatFormat format);

/// A double that rounds to any format of at most 24 mantissa bits as the integer itself does.
double stickyDouble(int64_t value);
double stickyDouble(uint64_t value);

/// a*b + c for a and b of at most 24 significant bits, again safe to round once more.
double stickyFma(double a, double b, double c);

} // namespace nereid::interpreter
