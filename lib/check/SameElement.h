// SPDX-License-Identifier: Apache-2.0
// Two elements of one tile that are stored to the same address with different values. One of them
// is written, and which one depends on the target.
#pragma once

#include "lib/interpreter/Tile.h"

#include <optional>
#include <utility>

namespace nereid::check {

/// The first two such elements, the earlier one first; `admitted` tells which elements are stored.
std::optional<std::pair<size_t, size_t>> differingStores(const interpreter::Tile &pointer,
                                                         const interpreter::Tile &value,
                                                         const interpreter::Tile &admitted);

} // namespace nereid::check
