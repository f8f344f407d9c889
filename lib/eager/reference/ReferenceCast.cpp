// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/ReferenceCast.h"

#include "lib/eager/reference/rules/IntegerRules.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Digits of a number, the place of the last digit that any number has, and the largest number.
struct FloatGrid {
  int digits, lowest;
  double largest;
};

FloatGrid gridOf(DType type) {
  switch (type) {
  case DType::F8E4M3FN:
    return {4, -9, 448};
  case DType::F8E5M2:
    return {3, -16, 57344};
  case DType::F16:
    return {11, -24, 65504};
  case DType::BF16:
    return {8, -133, 0x1.fep127};
  case DType::F32:
    return {24, -149, std::numeric_limits<float>::max()};
  default:
    return {53, -1074, std::numeric_limits<double>::max()};
  }
}

/// How far apart two results are: nothing is known of a number and something else.
double apart(double a, double b) {
  const bool isSame = a == b || (std::isnan(a) && std::isnan(b));
  return isSame ? 0 : std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : infinity;
}

/// By way of float32, as PyTorch goes from float64 and from integers, or at once.
double mostApart(DType to, double value, double reference) {
  const double direct = nearestOf(to, value);
  const double twice = nearestOf(to, nearestOf(DType::F32, value));
  return std::max(apart(direct, reference), apart(twice, reference));
}

Bounded toFloat(const Bounded &x, DType from, DType to) {
  if (std::isinf(x.error)) {
    return x;
  }
  const double value = nearestOf(to, x.value);
  const bool isTwice = !isFloat(from) || from == DType::F64;
  double error = isTwice && to != DType::F32 ? mostApart(to, x.value, value) : 0;
  if (x.error > 0) {
    error = std::max(
        {error, mostApart(to, x.value - x.error, value), mostApart(to, x.value + x.error, value)});
  }
  return {value, error};
}

Bounded toInteger(const Bounded &x, DType to, const Ends &ends, uint64_t &whole) {
  const double value = std::trunc(x.value) + 0.0; // no integer is -0
  const double low = std::trunc(std::max(x.value - x.error, ends.low));
  const double high = std::trunc(std::min(x.value + x.error, ends.high));
  whole = 0;
  if (std::isinf(x.error) || !isWithin(value, to) || !isWithin(low, to) ||
      !isWithin(high, to)) { // false of NaN
    return {value, infinity};
  }
  whole =
      value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
  return {value, std::max(value - low, high - value)};
}

double asDouble(uint64_t value, DType type) {
  return type == DType::U64 ? static_cast<double>(value)
                            : static_cast<double>(static_cast<int64_t>(value));
}

} // namespace

bool isWithin(double value, DType type) {
  const int bits = static_cast<int>(8 * sizeInBytes(type)) - (isSignedInteger(type) ? 1 : 0);
  const double end = std::ldexp(1.0, bits);
  return value < end && value >= (isSignedInteger(type) ? -end : 0.0);
}

double nearestOf(DType type, double value) {
  if (type == DType::F64 || !std::isfinite(value) || value == 0) {
    const bool isMissing = type == DType::F8E4M3FN && std::isinf(value);
    return isMissing ? std::numeric_limits<double>::quiet_NaN() : value;
  }
  const FloatGrid grid = gridOf(type);
  const int place = std::max(std::ilogb(value) - (grid.digits - 1), grid.lowest);
  const double near = std::ldexp(std::nearbyint(std::ldexp(value, -place)), place);
  if (std::fabs(near) <= grid.largest) {
    return near;
  }
  return type == DType::F8E4M3FN ? std::numeric_limits<double>::quiet_NaN()
                                 : std::copysign(infinity, value);
}

BoundedTensor castBounded(const BoundedTensor &in, DType from, DType to, bool holdsMore,
                          const Ends &ends) {
  BoundedTensor out;
  out.sizes = in.sizes;
  out.allocate(in.elements.size());
  const bool isWhole = !isFloat(to) && to != DType::Bool;
  out.integers.resize(isWhole ? in.elements.size() : 0);
  for (size_t i = 0; i < in.elements.size(); ++i) {
    const Bounded &x = in.elements[i];
    Bounded &result = out.elements[i];
    if (to == DType::Bool) {
      const bool mayBeZero = x.error > 0 && !(std::fabs(x.value) > x.error);
      result = {x.value != 0 ? 1.0 : 0.0, mayBeZero ? 1.0 : 0.0};
    } else if (isWhole && isFloat(from)) {
      result = toInteger(x, to, ends, out.integers[i]);
    } else if (isWhole) {
      const uint64_t given =
          in.integers.empty() ? static_cast<uint64_t>(x.value != 0) : in.integers[i];
      out.integers[i] = wrapped(given, to);
      result = {asDouble(out.integers[i], to), x.error};
      const bool spansEnds = x.error > 0 && !(isWithin(result.value - x.error, to) &&
                                              isWithin(result.value + x.error, to));
      out.mayWrap = out.mayWrap || (spansEnds && from != DType::Bool);
    } else if (holdsMore) {
      result = x;
    } else {
      // 64 bits of an integer are more than a double has: what is cut off there is less than half
      // of the last digit of float32, and decides only where two numbers are equally near.
      result = toFloat(x, from, to);
      const bool isLong = !isFloat(from) && std::fabs(x.value) > 0x1p24;
      result.error += isLong ? std::ldexp(1.0, std::ilogb(result.value) - 23) : 0;
    }
  }
  return out;
}

} // namespace nereid::eager
