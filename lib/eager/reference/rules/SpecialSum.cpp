// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/rules/SpecialSum.h"

#include "lib/definition/Tolerance.h"

#include <algorithm>
#include <limits>

namespace nereid::eager {
namespace {

bool isSurelyNaN(const Bounded &x) { return std::isnan(x.value) && !std::isinf(x.error); }

bool mayBeZero(const Bounded &x) { return x.error > 0 && !(std::fabs(x.value) > x.error); }

} // namespace

void SpecialSum::add(const Bounded &a, const Bounded &b) {
  if (isSurelyNaN(a) || isSurelyNaN(b)) {
    isNaN = true;
    return;
  }
  const bool areFinite = std::isfinite(a.value) && std::isfinite(b.value);
  const bool isOpen =
      std::isinf(a.error) || std::isinf(b.error) || (!areFinite && (mayBeZero(a) || mayBeZero(b)));
  const long double product = static_cast<long double>(a.value) * b.value;
  isLost = isLost || isOpen;
  value += areFinite ? product : 0; // also of what is lost: finite differences go by it
  if (isOpen) {
    isOpenNaN = isOpenNaN || std::isnan(product);
    return;
  }
  if (areFinite) {
    const double error = std::fabs(a.value) * b.error + a.error * (std::fabs(b.value) + b.error);
    const auto own = static_cast<double>(product);
    magnitudes += std::fabs(own);
    errors += error;
    above += std::max(0.0, own + error);
    below += std::max(0.0, error - own);
    return;
  }
  isNaN = isNaN || std::isnan(product);
  hasAbove = hasAbove || product > 0;
  hasBelow = hasBelow || product < 0;
}

Bounded SpecialSum::finish(const Rule &rule, int64_t terms, const ErrorModel &model) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (isNone()) {
    return {std::numeric_limits<double>::quiet_NaN(), 0};
  }
  if (hasAbove || hasBelow) {
    const bool mayMeet = (hasAbove ? below : above) > definition::largestFinite(model.compute);
    return {hasAbove ? infinity : -infinity, isLost || mayMeet ? infinity : 0};
  }
  if (isOpenNaN) {
    return {std::numeric_limits<double>::quiet_NaN(), infinity};
  }
  return finishProductSum(rule, {static_cast<double>(value), errors}, magnitudes, terms,
                          isLost || !std::isfinite(errors), model);
}

} // namespace nereid::eager
