// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/KnownDivisor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace nereid::lowering {
namespace {

constexpr int64_t one = int64_t{1} << 23; ///< least mantissa as an integer
constexpr int mostExponent = 60, mostOfLeast = -30;

/// a^-1 modulo m, of numbers without a common factor.
int64_t inverseModulo(int64_t a, int64_t m) {
  int64_t inverse = 0, next = 1, rest = m, of = a % m;
  while (of != 0) {
    const int64_t times = rest / of;
    inverse = std::exchange(next, inverse - times * next);
    rest = std::exchange(of, rest - times * of);
  }
  return (inverse % m + m) % m;
}

/// Whether the sum rounds like the quotient of every x from 1 to 2, and so of all that are so many
/// powers of two away. `divisor` and its mantissa lie from 1 to 2.
///
/// The sum is off by less than x * 2^-47: by what `low` and its product are rounded by, both a
/// 2^-24th of what `high` lacks, which is below 2^-24. The middle of two floats next to x/c, of
/// X / 2^23 and C / 2^23, is odd / 2^s for s = 24 where X >= C and s = 25 elsewhere, and lies
/// |X * 2^s - odd * C| / (2^s * C) from it: nearer than that where X * 2^s modulo C is 8 at most.
bool roundsAlike(float divisor, int64_t mantissa, float high, float low) {
  const int zeros = std::countr_zero(static_cast<uint64_t>(mantissa));
  const int64_t odd = mantissa >> zeros;
  for (const int scale : {24, 25}) {
    int64_t power = 1;
    for (int i = zeros; i < scale; ++i) {
      power = power * 2 % odd;
    }
    const int64_t inverse = inverseModulo(power, odd);
    for (int64_t apart = -8; apart <= 8; ++apart) {
      if (apart == 0 || apart % (int64_t{1} << zeros) != 0) {
        continue; // the middle of two is no quotient of floats
      }
      const int64_t residue = ((apart >> zeros) % odd + odd) % odd;
      for (int64_t x = residue * inverse % odd; x < 2 * one; x += odd) {
        const auto dividend = static_cast<float>(x) * 0x1p-23F;
        const float product = dividend * low;
        if (x >= one && std::fma(dividend, high, product) != dividend / divisor) {
          return false;
        }
      }
    }
  }
  return true;
}

} // namespace

std::optional<KnownDivisor> knownDivisor(float divisor) {
  if (!std::isnormal(divisor) || std::abs(std::ilogb(divisor)) > mostExponent) {
    return std::nullopt;
  }
  const int exponent = std::ilogb(divisor);
  const float size = std::ldexp(std::abs(divisor), -exponent);
  // Rounded towards zero, so that both have one sign: sums of zeros and of infinities keep theirs.
  auto high = static_cast<float>(1.0 / double(size));
  if (double(high) * size > 1) {
    high = std::nextafter(high, 0.0F);
  }
  const auto low = static_cast<float>((1 - double(high) * size) / size);
  if (low == 0 || !roundsAlike(size, static_cast<int64_t>(std::ldexp(size, 23)), high, low)) {
    return std::nullopt;
  }
  // From here on the product is normal, and with it rounded as those of x from 1 to 2 are.
  const int least = std::max(-126, -126 - (std::ilogb(low) - exponent));
  if (least > mostOfLeast) {
    return std::nullopt;
  }
  return KnownDivisor{std::copysign(std::ldexp(high, -exponent), divisor),
                      std::copysign(std::ldexp(low, -exponent), divisor), std::ldexp(1.0F, least)};
}

} // namespace nereid::lowering
