// SPDX-License-Identifier: Apache-2.0
// Orders what is tried one after the other at run time: specializations and targets.
#pragma once

#include <functional>
#include <vector>

namespace nereid::aot {

/// Numbers from 0 to count - 1 such that a stands before b when a is the more specific one, that is
/// when isAtLeast(a, b) and not the other way round; otherwise in the order given.
std::vector<size_t> specificityOrder(size_t count,
                                     const std::function<bool(size_t a, size_t b)> &isAtLeast);

} // namespace nereid::aot
