// SPDX-License-Identifier: Apache-2.0
// A sum of products some of whose factors are not finite, or lost: what it is in whatever order its
// terms are added.
#pragma once

#include "lib/eager/reference/rules/ErrorRules.h"

namespace nereid::eager {

class SpecialSum {
public:
  /// Adds the product of the two.
  void add(const Bounded &a, const Bounded &b);
  /// NaN, whatever is added.
  bool isNone() const { return isNaN || (hasAbove && hasBelow); }
  /// Of `terms` products, as the type rounds them. NaN is certain where a factor is, where infinity
  /// meets 0 or the other infinity; an infinity where nothing may be lost, or reach the other one.
  Bounded finish(const Rule &rule, int64_t terms, const ErrorModel &model) const;

private:
  long double value = 0;             ///< of the terms that are finite
  double magnitudes = 0, errors = 0; ///< of theirs
  double above = 0, below = 0;       ///< how far those of either sign may lead
  bool hasAbove = false;             ///< an infinity
  bool hasBelow = false;             ///< the other one
  bool isNaN = false, isLost = false;
  bool isOpenNaN = false; ///< one that an implementation may have as a number
};

} // namespace nereid::eager
