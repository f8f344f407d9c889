// SPDX-License-Identifier: Apache-2.0
// Rounding by the definition of the formats, and test data that is the same on every machine.
#include "test/language/Case.h"

#include <cmath>
#include <limits>
#include <random>

namespace nereid::conformance {

std::vector<DType> operator+(std::vector<DType> a, const std::vector<DType> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

namespace {

struct Format {
  int significandBits; ///< the hidden one included
  int lowestExponent;  ///< of the smallest normal number, 2^e
  Number largest;
};

Format formatOf(DType type) {
  switch (type) {
  case DType::F16:
    return {11, -14, 65504.0L};
  case DType::BF16:
    return {8, -126, std::ldexp(2.0L - std::ldexp(1.0L, -7), 127)};
  case DType::F32:
    return {24, -126, std::numeric_limits<float>::max()};
  case DType::F8E4M3FN:
    return {4, -6, 448};
  case DType::F8E5M2:
    return {3, -14, 57344};
  case DType::F8E4M3FNUZ:
    return {4, -7, 240};
  case DType::F8E5M2FNUZ:
    return {3, -15, 57344};
  case DType::F8E4B15:
    return {4, -14, 1.75L}; // the largest that is made; 1.875 exists
  default:
    return {53, -1022, std::numeric_limits<double>::max()};
  }
}

int bitsOf(DType type) { return type == DType::Bool ? 1 : 8 * static_cast<int>(sizeInBytes(type)); }

} // namespace

Number ulpOf(DType type, Number value) {
  if (!isFloat(type) || !std::isfinite(value)) {
    return 0;
  }
  Format format = formatOf(type);
  int exponent =
      value == 0 ? format.lowestExponent : std::max(std::ilogb(value), format.lowestExponent);
  return std::ldexp(1.0L, exponent - format.significandBits + 1);
}

Number wrap(DType type, __int128 value) {
  if (type == DType::Bool) {
    return value != 0;
  }
  int bits = bitsOf(type);
  auto low =
      static_cast<unsigned __int128>(value) & ((static_cast<unsigned __int128>(1) << bits) - 1);
  auto result = static_cast<__int128>(low);
  if (isSignedInteger(type) && (low >> (bits - 1)) != 0) {
    result -= static_cast<__int128>(1) << bits;
  }
  return static_cast<Number>(result);
}

/// Cut to float16's digits, then to the nearest, ties away from zero; NaN and all beyond is 1.75.
static Number roundToE4B15(Number value) {
  Number magnitude = std::fabs(value);
  if (!(magnitude < 1.75L)) {
    return std::copysign(1.75L, value);
  }
  Number unit = ulpOf(DType::F16, magnitude);
  magnitude = std::floor(magnitude / unit) * unit;
  unit = ulpOf(DType::F8E4B15, magnitude);
  return std::copysign(std::floor(magnitude / unit + 0.5L) * unit, value);
}

Number roundTo(DType type, Number value) {
  if (!isFloat(type)) {
    return wrap(type, static_cast<__int128>(std::trunc(value)));
  }
  if (type == DType::F8E4B15) {
    return roundToE4B15(value);
  }
  Format format = formatOf(type);
  if (isFloat8(type) && std::fabs(value) > format.largest) {
    return std::copysign(format.largest, value);
  }
  if (!std::isfinite(value) || value == 0) {
    return value;
  }
  Number unit = ulpOf(type, value);
  Number rounded = std::nearbyint(value / unit) * unit;
  // Half a unit beyond the largest number is where infinity begins.
  return std::fabs(rounded) > format.largest ? std::copysign(INFINITY, value) : rounded;
}

Values makeValues(const Tensor &tensor, DType type, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto between = [&](Number low, Number high) {
    return low + (high - low) * static_cast<Number>(random() >> 11) * 0x1p-53L;
  };
  bool isReal = isFloat(type), isSigned = isSignedInteger(type) || isReal;
  auto whole = [&](int64_t low, int64_t high) {
    return static_cast<Number>(
        low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1)));
  };
  Values values;
  for (int64_t i = 0; i < tensor.count; ++i) {
    Number value = 0;
    switch (tensor.fill) {
    case Fill::Normal:
    case Fill::Special:
      value = isReal ? between(-4, 4) : wrap(type, static_cast<__int128>(random()));
      break;
    case Fill::Positive:
      value = isReal ? between(0x1p-6L, 8) : whole(1, 100);
      break;
    case Fill::Unit:
      value = isReal ? between(-1, 1) : whole(isSigned ? -1 : 0, 1);
      break;
    case Fill::Small:
      value = whole(isSigned ? -8 : 0, 8);
      break;
    case Fill::Shift:
      value = whole(0, 7);
      break;
    case Fill::Counting:
      value = static_cast<Number>(i % 64);
      break;
    case Fill::Poison:
      value = isReal ? std::numeric_limits<Number>::quiet_NaN()
                     : wrap(type, static_cast<__int128>(0xCDCDCDCDCDCDCDCDull));
      break;
    case Fill::Zero:
      break;
    }
    bool isUnmade = type == DType::F8E4B15 && tensor.fill == Fill::Poison;
    values.push_back(isUnmade                      ? -1.875L // all bits set: the type has no NaN
                     : type != DType::Bool         ? roundTo(type, value)
                     : tensor.fill == Fill::Poison ? 1
                                                   : static_cast<Number>(random() & 1));
  }
  bool hasEnds = tensor.fill == Fill::Special || (tensor.fill == Fill::Normal && !isReal);
  if (hasEnds && type != DType::Bool) {
    Values ends;
    if (isReal) {
      Format format = formatOf(type);
      ends = {0.0L, -0.0L,          INFINITY,        -INFINITY,
              NAN,  format.largest, -format.largest, std::ldexp(1.0L, format.lowestExponent)};
    } else {
      int bits = bitsOf(type) - (isSigned ? 1 : 0);
      Number top = std::ldexp(1.0L, bits) - 1;
      ends = {0, 1, top, isSigned ? -top - 1 : 0, isSigned ? -1 : top};
    }
    // Spread differently in each tensor, so that pairs meet in many combinations.
    for (size_t k = 0; k < values.size() / 3; ++k) {
      Number end = ends[random() % ends.size()];
      values[random() % values.size()] = isFloat8(type) ? roundTo(type, end) : end;
    }
  }
  return values;
}

} // namespace nereid::conformance
