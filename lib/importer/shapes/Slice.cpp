// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/shapes/Slice.h"

#include <algorithm>

namespace nereid::importer {

SlicedDim slicedDim(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (size == 0) {
    return {};
  }
  auto bound = [&](int64_t at, int64_t low, int64_t high) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  const int64_t from = step > 0 ? bound(start, 0, size) : bound(start, 0, size - 1);
  const int64_t to = step > 0 ? bound(end, 0, size) : bound(end, -1, size - 1);
  const int64_t span = step > 0 ? to - from : from - to;
  const int64_t by = step > 0 ? step : -step;
  return {from, to, span <= 0 ? 0 : (span - 1) / by + 1};
}

} // namespace nereid::importer
