// SPDX-License-Identifier: Apache-2.0
// The table of monoids, see Monoids.h.
#include "lib/generator/program/Monoids.h"

#include <algorithm>
#include <limits>

namespace nereid::generator {

const std::vector<Monoid> &allMonoids() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // name, components, commutative, takes empty, accumulates, identity
  static const std::vector<Monoid> table = {
      {"sum", 1, true, true, true, {0}},
      {"prod", 1, true, true, true, {1}},
      {"max", 1, true, false, true, {-infinity}}, // NaN wins, as in PyTorch
      {"min", 1, true, false, true, {infinity}},
      {"any", 1, true, true, true, {0}},
      {"all", 1, true, true, true, {1}},
      {"xor", 1, true, true, true, {0}},
      // value and position: the first of equal values, the first NaN
      {"argmax", 2, true, false, false, {-infinity, infinity}},
      {"argmin", 2, true, false, false, {infinity, infinity}},
      // the last of equal values, and the last NaN: of what stands in a scan's order
      {"cummax", 2, false, false, false, {-infinity, 0}},
      {"cummin", 2, false, false, false, {infinity, 0}},
      // count, about the mean, sums of distances and of squared ones from that; maximum, sum of
      // exponentials above it
      {"welford", 4, true, true, false, {0, 0, 0, 0}},
      {"logsumexp", 2, true, true, false, {-infinity, 0}},
  };
  return table;
}

const Monoid *findMonoid(std::string_view name) {
  const std::vector<Monoid> &table = allMonoids();
  auto found = std::find_if(table.begin(), table.end(),
                            [&](const Monoid &monoid) { return monoid.name == name; });
  return found == table.end() ? nullptr : &*found;
}

} // namespace nereid::generator
