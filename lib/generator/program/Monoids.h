// SPDX-License-Identifier: Apache-2.0
// The monoids of reductions, scans and accumulating stores, declared once: how many values one
// element has, and what laws the combination keeps.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace nereid::generator {

struct Monoid {
  std::string_view name;
  size_t components = 1;
  bool isCommutative = true;
  bool takesEmpty = true;    ///< false: without elements there is no result; PyTorch raises
  bool canAccumulate = true; ///< in memory, by stores in any order
  std::vector<double> identity;
};

/// In the order of the table; null when there is none of that name.
const Monoid *findMonoid(std::string_view name);
const std::vector<Monoid> &allMonoids();

} // namespace nereid::generator
