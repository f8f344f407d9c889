// SPDX-License-Identifier: Apache-2.0
#include "lib/layout/Sectors.h"

#include <set>
#include <utility>
#include <vector>

namespace nereid::layout {
namespace {

/// Of the numbers that `size` divides into groups: rounded down, also below zero.
int64_t groupOf(int64_t number, int64_t size) {
  return number / size - (number % size < 0 ? 1 : 0);
}

} // namespace

SectorUse sectorUse(const LinearLayout &layout, int64_t registers, std::span<const AddressRun> runs,
                    int64_t elementBytes) {
  using Group = std::vector<int64_t>; // of addresses whose distances are known, by index
  std::set<std::pair<Group, int64_t>> elements, sectors;
  for (int64_t lane = 0; lane < layout.count(Holder::Lane); ++lane) {
    for (int64_t reg = 0; reg < registers; ++reg) {
      int64_t element = layout.elementAt(reg, lane, 0), offset = 0;
      Group group(runs.size());
      for (size_t dim = runs.size(); dim-- > 0;) {
        const int64_t size = layout.shape()[dim], index = element % size;
        element /= size;
        const AddressRun &run = runs[dim];
        const int64_t length = run.stride ? run.length : 1;
        group[dim] = index / length;
        offset += index % length * run.stride.value_or(0);
      }
      const int64_t first = offset * elementBytes;
      elements.emplace(group, first);
      for (int64_t byte = first; byte < first + elementBytes; ++byte) {
        sectors.emplace(group, groupOf(byte, sectorBytes));
      }
    }
  }
  return {static_cast<int64_t>(elements.size()) * elementBytes,
          static_cast<int64_t>(sectors.size())};
}

} // namespace nereid::layout
