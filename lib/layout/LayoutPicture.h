// SPDX-License-Identifier: Apache-2.0
// Layouts for people: in words, as basis vectors, and as pictures of who holds which element and in
// which bank of shared memory it lies.
#pragma once

#include "lib/layout/Banks.h"
#include "lib/layout/LinearLayout.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::layout {

/// An element's number as an index in each dimension.
std::vector<int64_t> coordinatesOf(int64_t element, const LinearLayout::Shape &shape);

struct HolderNumbers {
  int64_t warp = 0, lane = 0, reg = 0;
  bool operator==(const HolderNumbers &) const = default;
};
/// Who holds each element, by its number: the first warp, lane and register of those who do;
/// nothing where nobody does.
std::vector<std::optional<HolderNumbers>> firstHolders(const LinearLayout &layout);

/// One line for each kind of holder: "lanes: 4 along dim 1, then 8 along dim 0". A step that passes
/// over elements is said, "2 along dim 0 in steps of 8"; what makes no difference is replicas.
std::string inWords(const LinearLayout &layout);

/// One line for each kind of holder: "lanes: [0, 4] [0, 8] [1, 0]", the indices that each bit of
/// the holder's number adds.
std::string basisVectors(const LinearLayout &layout);

/// How much of a tile pictures show: so many of its last two dimensions, at index 0 of all others.
struct Corner {
  int64_t rows = 8, columns = 8;
};

/// "0:5.2" is warp 0, lane 5, register 2.
std::string pictureOfHolders(const LinearLayout &layout, const Corner &corner);
/// The bank of each element.
std::string pictureOfBanks(const LinearLayout::Shape &shape, const Places &places,
                           const Corner &corner);

} // namespace nereid::layout
