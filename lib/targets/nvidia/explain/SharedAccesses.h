// SPDX-License-Identifier: Apache-2.0
// By which instructions an operation's tiles go into shared memory and come out of it, as PTX has
// them; what an assembler makes one of neighbours can only be faster. Reductions across warps, in
// which each thread has a place of its own, and what only the data decide is left out.
#pragma once

#include "lib/pipeline/kernel/TileLayouts.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

#include "mlir/IR/Operation.h"

#include <vector>

namespace nereid::nvidia {

/// Of one operation of phase `tile-nvidia`, without places in the source.
std::vector<pipeline::SharedAccess> sharedAccessesOf(mlir::Operation *op,
                                                     const tile::AxisInfos &axes);

} // namespace nereid::nvidia
