// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/rules/PowerRule.h"

#include <algorithm>

namespace nereid::eager {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// All that a number may be.
struct Interval {
  double low, high;

  bool isExact() const { return low == high; }
  bool has(double x) const { return low <= x && x <= high; }
  bool hasInteger() const { return std::floor(high) >= std::ceil(low); }
  bool hasOdd() const {
    if (high - low >= 2) {
      return true;
    }
    const double first = std::ceil(low);
    return (first <= high && std::fmod(first, 2) != 0) || first + 1 <= high;
  }
};

Interval around(const Bounded &x) { return {x.value - x.error, x.value + x.error}; }

/// Of a zero or an infinity, which an inexact exponent does not move. That of a negative one is
/// negative where the exponent is odd.
Bounded ofEnd(double value, bool isNegative, const Interval &exponent) {
  const bool isSigned = !isNegative || exponent.isExact() || !exponent.hasOdd();
  return {value, isSigned ? 0 : value == 0 ? eitherZero.error : infinity};
}

/// Of a base that may be 0, to an exponent above 0.
double errorNearZero(double value, const Interval &base, const Interval &exponent) {
  const double most = std::max(base.high, -base.low);
  const double reached = std::max(std::pow(most, exponent.low), std::pow(most, exponent.high));
  return std::fabs(value) + reached + (base.low < 0 ? eitherZero.error : 0);
}

} // namespace

Bounded power(const Bounded &a, const Bounded &b, double lowest) {
  const double value = std::pow(a.value, b.value);
  const Interval exponent = around(b);
  if ((a.error == 0 && b.error == 0) || (b.value == 0 && b.error == 0)) {
    return {value, 0};
  }
  if (std::isnan(a.value)) {
    return {value, exponent.has(0) ? infinity : 0};
  }
  const Interval base = {std::max(a.value - a.error, lowest), a.value + a.error};
  if (std::isnan(b.value)) {
    return {value, base.has(1) ? infinity : 0};
  }
  if (std::isinf(b.value)) {
    return {value, base.has(1) || base.has(-1) ? infinity : 0};
  }
  const bool isNegative = std::signbit(a.value);
  if (a.error == 0 && (a.value == 0 || std::isinf(a.value))) {
    return exponent.has(0) ? Bounded{value, infinity} : ofEnd(value, isNegative, exponent);
  }
  if (base.high < 0 && !exponent.hasInteger()) {
    return {value, 0}; // NaN
  }
  const bool mayBeNaN = base.low < 0 && !(exponent.isExact() && exponent.hasInteger());
  if (mayBeNaN) {
    return {value, infinity};
  }
  if (b.value == 2 && b.error == 0) {
    return {value, 2 * std::fabs(a.value) * a.error + a.error * a.error};
  }
  const double low = std::max(std::fabs(a.value) - a.error, lowest);
  if (low > 0) {
    const double relative = (std::fabs(b.value) + b.error) * a.error / low;
    const double growth = std::fabs(std::log(std::fabs(a.value))) * b.error;
    return {value, std::fabs(value) * std::expm1(relative + growth)};
  }
  return {value, exponent.low > 0 ? errorNearZero(value, base, exponent) : infinity};
}

} // namespace nereid::eager
