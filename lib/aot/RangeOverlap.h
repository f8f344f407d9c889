// SPDX-License-Identifier: Apache-2.0
// Finds specializations that differ in their ranges alone and whose ranges overlap, so that which
// of them runs would depend on the order in which they were given.
#pragma once

#include "lib/aot/Interface.h"

#include <optional>

namespace nereid::aot {

/// E0026 with the values that fit both; nothing when ranges are disjoint or one inside the other.
std::optional<Diagnostic> findOverlap(const Interface &interface);

} // namespace nereid::aot
