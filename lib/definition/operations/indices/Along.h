// SPDX-License-Identifier: Apache-2.0
// Operations along one dimension, whose elements make lines: scans (cumsum), sorted lines (sort,
// topk, kthvalue) and positions of the largest (argmax, which takes all elements as one line when
// no dimension is named).
#pragma once

#include "lib/definition/operations/Operations.h"

namespace nereid::definition {

bool isAlong(const Node &node);

/// E0604 where there is no such dimension, several are named, or k is none of its places.
Result<SymbolicShape> alongShape(const Node &node, const Node &input);

/// The dimension, counted from the end; of an argmax of everything none.
std::optional<int64_t> dimAlong(const Node &node);

/// Of lines of `length` elements, which places of the sorted line are the result: `count` from
/// `first` on.
struct SortedPart {
  int64_t first = 0, count = 0;
  bool isDescending = false;
  bool takesNaN = false; ///< of median: the first NaN, where there is one
};
SortedPart sortedPart(const Node &node, int64_t length);

/// The smallest length that a line must have; 0: any.
int64_t leastLength(const Node &node);

} // namespace nereid::definition
