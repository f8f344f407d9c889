// SPDX-License-Identifier: Apache-2.0
// Parts of an image as adaptive pooling makes them: of one length where the result's size divides
// the source's, and else of two or three lengths, neighbours sharing an element.
#pragma once

#include "lib/definition/reader/windows/WrittenCall.h"

namespace nereid::definition {

/// One dimension: part i begins at i * from // to and ends where part i + 1 would, rounded up.
struct Parts {
  Parts(SizePolynomial from, SizePolynomial to);

  SizePolynomial from, to;
  SizePolynomial most;   ///< elements that a part may have
  bool areEqual = false; ///< all of them have as many
  Value begin(WrittenCall &call) const;
  Value count(WrittenCall &call) const;
};

/// The last dimensions become parts, whose places are the last dimensions then; what is not of the
/// part is `fill`.
Value inParts(WrittenCall &call, Value x, const std::vector<Parts> &sides, double fill);
Value meanOfParts(WrittenCall &call, Value x, const std::vector<Parts> &sides);
/// What each element gets back from the means of the parts that have it.
Value meanOfPartsBack(WrittenCall &call, Value grad, const std::vector<Parts> &sides);

} // namespace nereid::definition
