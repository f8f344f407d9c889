// SPDX-License-Identifier: Apache-2.0
// Choices between elements of one tensor by where the result lies, as borders of images are made:
//
//   out[i] = where(i < 1, x[1 - i], where(i < N + 1, x[i - 1], x[2 N - 1 - i]))
//
// is the element at a place that is chosen, which each dimension chooses by itself:
//
//   out[i] = x[where(i < 1, 1 - i, where(i < N + 1, i - 1, 2 N - 1 - i))]
//
// Devices wait for memory once then, and have one address to compute and no masks. Processors load
// vectors of what lies in order, and are better off with the former.
#pragma once

#include "lib/generator/program/Program.h"

#include <optional>

namespace nereid::generator {

/// The stores with such elements. Nothing where less than three loads would become one: of two, as
/// of what is rotated, both may be vectors.
std::optional<std::vector<Store>> withChosenPlaces(Program &program,
                                                   const std::vector<Store> &stores);

} // namespace nereid::generator
