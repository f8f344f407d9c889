// SPDX-License-Identifier: Apache-2.0
// Where the threads of a program have to wait for each other, so that its loads and stores come out
// as if one thread did them in order (docs/memory.md): in front of an access that touches what
// another thread may have touched since the last barrier.
#pragma once

#include "lib/tile/analysis/axis/AxisInfo.h"

#include "llvm/ADT/DenseSet.h"

#include "mlir/IR/Operation.h"

namespace nereid::nvidia {

/// The operations of the kernel that want a barrier in front of them.
llvm::DenseSet<mlir::Operation *> accessesBehindBarriers(mlir::Operation *kernel,
                                                         const tile::AxisInfos &axes);

} // namespace nereid::nvidia
