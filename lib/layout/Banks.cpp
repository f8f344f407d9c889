// SPDX-License-Identifier: Apache-2.0
#include "lib/layout/Banks.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace nereid::layout {

int64_t lanesOfTransaction(int64_t bytes) {
  return bankCount * bankBytes / std::max(bytes, bankBytes);
}

int64_t bankTurns(std::span<const int64_t> places, int64_t bytes) {
  std::array<std::set<int64_t>, bankCount> wordsOf;
  for (int64_t place : places) {
    for (int64_t byte = 0; byte < bytes; byte += bankBytes) {
      wordsOf[static_cast<size_t>(bankOf(place + byte))].insert((place + byte) / bankBytes);
    }
  }
  size_t most = 1;
  for (const auto &words : wordsOf) {
    most = std::max(most, words.size());
  }
  return static_cast<int64_t>(most);
}

int64_t bankTurns(const LinearLayout &places, int64_t bytes) {
  const int64_t lanes = std::min(places.count(Holder::Lane), lanesOfTransaction(bytes));
  std::vector<int64_t> first;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    first.push_back(places.contribution(Holder::Lane, lane));
  }
  return bankTurns(first, bytes);
}

Places rowMajorPlaces(const LinearLayout::Shape &shape, int64_t bytes) {
  Places places;
  const int64_t size = LinearLayout(shape, {}, {}, {}).elementCount();
  for (int64_t bit = 1; bit < size; bit <<= 1) {
    places.push_back(bit * bytes);
  }
  return places;
}

int64_t placeOf(int64_t element, const Places &places) {
  int64_t byte = 0;
  for (size_t bit = 0; bit < places.size(); ++bit) {
    byte ^= (element >> bit & 1) != 0 ? places[bit] : 0;
  }
  return byte;
}

LinearLayout placesOf(const LinearLayout &elements, const Places &places) {
  auto mapped = [&](Holder holder) {
    LinearLayout::Bases bytes = elements.bases(holder);
    for (int64_t &basis : bytes) {
      basis = placeOf(basis, places);
    }
    return bytes;
  };
  return {{}, mapped(Holder::Register), mapped(Holder::Lane), mapped(Holder::Warp)};
}

int64_t neighboursIn(const LinearLayout &places, int64_t bytes) {
  int64_t count = 1;
  for (int64_t basis : places.bases(Holder::Register)) {
    if (basis != count * bytes) {
      break;
    }
    count *= 2;
  }
  return count;
}

} // namespace nereid::layout
