// SPDX-License-Identifier: Apache-2.0
// How far apart neighbours of a tile of addresses lie, as a rule: `x + (i % width)` steps by one
// wherever it does not start anew. Nothing is proved, so that only what is right in any case, which
// threads hold which elements, may depend on it.
#pragma once

#include "lib/tile/analysis/axis/AxisInfo.h"

#include <cstdint>
#include <vector>

namespace nereid::nvidia {

/// The dimensions, the one along which threads should follow each other first: where runs of
/// neighbours are long, then where steps are short. A step that is known is taken for shorter than
/// one that a launch brings; of what is read for a product, fewer factors of two make a stride of a
/// launch shorter. Of equal ones the last dimension comes first.
std::vector<int32_t> orderOfAccess(mlir::Value pointer, const tile::AxisInfos &axes);

} // namespace nereid::nvidia
