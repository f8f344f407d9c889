// SPDX-License-Identifier: Apache-2.0
// Reductions over a few places whose number is known, such as those of a window: one operation
// after the other, so that a tile's lanes are neighbouring results, which read neighbours.
#pragma once

#include "lib/generator/lower/Lazy.h"

namespace nereid::generator {

/// All of these dimensions together have at most 32 elements, and at least one.
bool areFewPlaces(const Shape &shape, const std::vector<size_t> &dims);

/// As Tensors::reduce of "sum", "prod", "max" or "min" over such dimensions, ascending.
Lazy placeByPlace(const Tensors &make, const std::string &monoid, const Lazy &x,
                  const std::vector<size_t> &dims, bool keepsDims);

} // namespace nereid::generator
