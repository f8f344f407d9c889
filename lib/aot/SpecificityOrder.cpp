// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/SpecificityOrder.h"

#include <algorithm>

namespace nereid::aot {

std::vector<size_t> specificityOrder(size_t count,
                                     const std::function<bool(size_t a, size_t b)> &isAtLeast) {
  std::vector<size_t> left(count), order;
  for (size_t i = 0; i < count; ++i) {
    left[i] = i;
  }
  while (!left.empty()) {
    // The relation has no circles, so that one of them has nothing more specific beside it.
    auto next = std::find_if(left.begin(), left.end(), [&](size_t candidate) {
      return std::none_of(left.begin(), left.end(), [&](size_t other) {
        return other != candidate && isAtLeast(other, candidate) && !isAtLeast(candidate, other);
      });
    });
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

} // namespace nereid::aot
