// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/indices/RowRuns.h"

#include <algorithm>

namespace nereid::eager {

RowRuns::RowRuns(const std::vector<int64_t> &sizes, const std::vector<std::vector<int64_t>> &steps)
    : inner(steps.size(), 0), sizes(sizes), steps(steps), outer(sizes.size()) {
  for (bool isBegun = false; outer > 0; --outer) {
    const size_t d = outer - 1;
    if (sizes[d] == 1) {
      continue;
    }
    size_t k = 0;
    for (; k < steps.size(); ++k) {
      inner[k] = isBegun ? inner[k] : steps[k][d];
      if (isBegun && steps[k][d] != inner[k] * length) {
        break;
      }
    }
    if (k < steps.size()) {
      break;
    }
    length *= sizes[d];
    isBegun = true;
  }
}

int64_t RowRuns::offset(int64_t row, size_t operand) const {
  int64_t offset = 0;
  for (size_t d = outer; d-- > 0; row /= sizes[d]) {
    offset += row % sizes[d] * steps[operand][d];
  }
  return offset;
}

void RowRuns::advance(Place &place) const {
  for (size_t d = outer; d-- > 0;) {
    const bool isOver = ++place.index[d] == sizes[d];
    for (size_t k = 0; k < steps.size(); ++k) {
      place.offsets[k] += isOver ? -(sizes[d] - 1) * steps[k][d] : steps[k][d];
    }
    if (!isOver) {
      return;
    }
    place.index[d] = 0;
  }
}

} // namespace nereid::eager
