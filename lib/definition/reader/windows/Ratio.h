// SPDX-License-Identifier: Apache-2.0
// One dimension of an image that gets another size: from which sizes, and where the elements of the
// result lie between those of the source.
#pragma once

#include "lib/definition/reader/windows/WrittenCall.h"

namespace nereid::definition {

/// A step of the result is numerator / denominator of a step of the source.
struct Ratio {
  int64_t dim = -1;
  SizePolynomial from, to, numerator = 1, denominator = 1;
  bool isSame() const { return from == to && numerator == denominator; }
};

/// Of two sizes, without what they have in common.
void setRatio(Ratio &ratio);
/// The sizes of the result, from its sizes or from factors.
std::optional<std::vector<Ratio>> ratiosOf(WrittenCall &call, int x, size_t sides,
                                           const char *sizeName, bool areCorners);

/// Element i of the result lies at (start + step · i) / divisor of the source.
struct Line {
  SizePolynomial start, step, divisor;
  Line(const Ratio &ratio, bool areCorners);
};

/// Keys' cubic with -3/4 at a distance from 0 to 2; `isNext`: up to 1.
Value cubicOf(WrittenCall &call, Value distance, Value isNext);
/// Between the 4 nearest neighbours, by Keys' cubic with -3/4, in float32 at least.
Value cubic(WrittenCall &call, Value x, const Ratio &ratio, bool areCorners);
/// What each element gets back from those it was a neighbour of, 2 of each or 4, in float32 at
/// least.
Value neighboursBack(WrittenCall &call, Value grad, const Ratio &ratio, bool areCorners,
                     bool isCubic);

} // namespace nereid::definition
