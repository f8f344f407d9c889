// SPDX-License-Identifier: Apache-2.0
#include "lib/check/SameElement.h"

#include <algorithm>

namespace nereid::check {

std::optional<std::pair<size_t, size_t>> differingStores(const interpreter::Tile &pointer,
                                                         const interpreter::Tile &value,
                                                         const interpreter::Tile &admitted) {
  std::vector<std::pair<uint64_t, size_t>> stored; // address and index
  for (size_t i = 0; i < pointer.size(); ++i) {
    if (admitted[i] != 0) {
      stored.emplace_back(pointer[i], i);
    }
  }
  std::sort(stored.begin(), stored.end());
  std::optional<std::pair<size_t, size_t>> found;
  for (size_t i = 1; i < stored.size(); ++i) {
    const auto [address, index] = stored[i];
    const auto [before, other] = stored[i - 1];
    if (address == before && value[index] != value[other] &&
        (!found || std::pair(other, index) < *found)) {
      found = {other, index};
    }
  }
  return found;
}

} // namespace nereid::check
