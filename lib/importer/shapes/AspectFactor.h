// SPDX-License-Identifier: Apache-2.0
// keep_aspect_ratio_policy of Resize: one factor for all dimensions, that of the one where the size
// that is asked for is the smallest or the largest part of what it has.
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::importer {

/// A size over a length, which is above 0.
struct AspectFactor {
  int64_t size = 0, length = 1;
  bool isKnown = false; ///< a dimension was added

  /// Of a dimension. `policy`: "not_larger" takes the smallest factor, others the largest.
  void add(int64_t asked, int64_t has, std::string_view policy) {
    const bool isLess = __int128{asked} * length < __int128{size} * has;
    if (!isKnown || isLess == (policy == "not_larger")) {
      *this = {asked, has, true};
    }
  }
};

} // namespace nereid::importer
