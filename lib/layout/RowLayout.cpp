// SPDX-License-Identifier: Apache-2.0
#include "lib/layout/RowLayout.h"

namespace nereid::layout {

LinearLayout rowLayout(const LinearLayout::Shape &shape, int64_t lanes, int64_t warps) {
  LinearLayout::Bases columns, rows; // in an element's row-major number, lowest bit first
  int64_t unit = 1;
  for (size_t dim = shape.size(); dim-- > 0; unit *= shape[dim]) {
    LinearLayout::Bases &list = dim + 1 == shape.size() ? columns : rows;
    for (int64_t step = 1; step < shape[dim]; step <<= 1) {
      list.push_back(step * unit);
    }
  }
  auto take = [](int64_t threads, LinearLayout::Bases &first, LinearLayout::Bases &then) {
    LinearLayout::Bases taken;
    for (; threads > 1; threads >>= 1) {
      LinearLayout::Bases &list = first.empty() ? then : first;
      taken.push_back(list.empty() ? 0 : list.front());
      if (!list.empty()) {
        list.erase(list.begin());
      }
    }
    return taken;
  };
  LinearLayout::Bases ofLanes = take(lanes, columns, rows);
  LinearLayout::Bases ofWarps = take(warps, rows, columns);
  columns.insert(columns.end(), rows.begin(), rows.end());
  return {shape, std::move(columns), std::move(ofLanes), std::move(ofWarps)};
}

} // namespace nereid::layout
