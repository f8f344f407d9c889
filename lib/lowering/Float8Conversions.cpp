// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on the bits, in lanes of 32. Subnormal numbers go through an integer
// conversion or an addition that lines up their last bit, never through a subnormal f32, which
// costs a hundred cycles on many machines.
#include "lib/lowering/Float8Conversions.h"

#include <bit>
#include <cmath>

using namespace mlir;

namespace nereid::lowering {
namespace {

struct Float8 {
  unsigned mantissaBits;
  int bias;
  uint64_t largest; ///< code of the largest finite number
};

Float8 describe(Type format) {
  if (format.isFloat8E4M3FN()) {
    return {3, 7, 0x7E};
  }
  if (format.isFloat8E5M2()) {
    return {2, 15, 0x7B};
  }
  return format.isFloat8E4M3FNUZ() ? Float8{3, 8, 0x7F} : Float8{2, 16, 0x7F};
}

constexpr uint64_t singleNan = 0x7fc00000, singleInfinity = 0x7f800000;

} // namespace

bool hasNanForNegativeZero(Type format) {
  return format.isFloat8E4M3FNUZ() || format.isFloat8E5M2FNUZ();
}

Lanes decodeFloat8(Lanes bits, Type format) {
  const auto [mantissaBits, bias, largest] = describe(format);
  Lanes wide = extendUnsigned(bits, 32);
  Lanes magnitude = wide & 0x7f;
  // A normal number has the f32 fields already, but for the difference of the biases.
  Lanes normal = (magnitude << (23 - mantissaBits)) +
                 magnitude.constantBits(static_cast<uint64_t>(127 - bias) << 23);
  Lanes small =
      bitsOf(toFloat(magnitude) * std::ldexp(1.0, 1 - bias - static_cast<int>(mantissaBits)));
  Lanes isSmall = magnitude < magnitude.constantBits(uint64_t{1} << mantissaBits);
  Lanes result = select(isSmall, small, normal);
  Lanes nan = magnitude.constantBits(singleNan);
  if (hasNanForNegativeZero(format)) {
    Lanes number = result | ((wide & 0x80) << 24);
    return floatOf(select(wide == wide.constantBits(0x80), nan, number));
  }
  if (format.isFloat8E5M2()) {
    Lanes code = magnitude.constantBits(largest + 1);
    result = select(magnitude == code, magnitude.constantBits(singleInfinity), result);
    result = select(magnitude > code, nan, result);
  } else {
    result = select(magnitude > magnitude.constantBits(largest), nan, result);
  }
  return floatOf(result | ((wide & 0x80) << 24));
}

Lanes encodeFloat8(Lanes number, Type format) {
  const auto [mantissaBits, bias, largest] = describe(format);
  const unsigned dropped = 23 - mantissaBits;
  Lanes bits = bitsOf(number);
  Lanes sign = shiftRight(bits, 24) & 0x80;
  Lanes magnitude = bits & 0x7fffffff;
  // Subnormal results: the sum's last bit is the format's smallest number.
  const float aligned = std::ldexp(1.0f, 1 - bias - static_cast<int>(mantissaBits) + 23);
  Lanes small = bitsOf(floatOf(magnitude) + static_cast<double>(aligned)) -
                magnitude.constantBits(std::bit_cast<uint32_t>(aligned));
  // Rounding up to the next power of 2 carries into the exponent field by itself.
  Lanes half = (shiftRight(magnitude, dropped) & 1) +
               magnitude.constantBits((uint64_t{1} << (dropped - 1)) - 1);
  Lanes normal = shiftRight(magnitude + half, dropped) -
                 magnitude.constantBits(static_cast<uint64_t>(127 - bias) << mantissaBits);
  Lanes smallestNormal = magnitude.constantBits(static_cast<uint64_t>(128 - bias) << 23);
  Lanes code = select(magnitude < smallestNormal, small, normal);
  Lanes limit = magnitude.constantBits(largest);
  code = select(code < limit, code, limit);
  Lanes isNotANumber = magnitude > magnitude.constantBits(singleInfinity);
  if (hasNanForNegativeZero(format)) {
    Lanes zero = code.constantBits(0);
    code = select(code == zero, zero, code | sign);
    return truncateTo(select(isNotANumber, code.constantBits(0x80), code), 8);
  }
  return truncateTo(select(isNotANumber, code.constantBits(0x7f), code) | sign, 8);
}

} // namespace nereid::lowering
