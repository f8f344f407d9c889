// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/SharedTile.h"

#include <algorithm>
#include <cassert>

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

constexpr int64_t chunk = 16;     // bytes that move together
constexpr int64_t allBanks = 128; // bytes from a bank to the same one

} // namespace

SharedTile::SharedTile(LinearLayout::Shape given, int64_t elementBytes, int64_t fastest)
    : shape(std::move(given)), elementBytes(elementBytes), fastest(fastest) {
  assert(shape.size() == 2 && shape[static_cast<size_t>(fastest)] * elementBytes >= chunk);
}

int64_t SharedTile::bytes() const { return shape[0] * shape[1] * elementBytes; }

int64_t SharedTile::rowBytes() const {
  return std::min(allBanks, shape[static_cast<size_t>(fastest)] * elementBytes);
}

int64_t SharedTile::placeOf(int64_t element) const {
  const int64_t first = element / shape[1], last = element % shape[1];
  const int64_t row = fastest == 1 ? first : last;
  const int64_t at = (fastest == 1 ? last : first) * elementBytes;
  const int64_t wide = rowBytes(), rows = shape[static_cast<size_t>(1 - fastest)];
  // Rows longer than all banks are cut into panels, one behind the other.
  const int64_t panel = at / wide, within = at % wide;
  const int64_t turn = row / (allBanks / wide) % (wide / chunk);
  return panel * rows * wide + row * wide + (within ^ (turn * chunk));
}

LinearLayout SharedTile::placesOf(const LinearLayout &elements) const {
  auto mapped = [&](Holder holder) {
    LinearLayout::Bases places = elements.bases(holder);
    std::transform(places.begin(), places.end(), places.begin(),
                   [&](int64_t basis) { return placeOf(basis); });
    return places;
  };
  return {{bytes()}, mapped(Holder::Register), mapped(Holder::Lane), mapped(Holder::Warp)};
}

} // namespace nereid::nvidia
