// SPDX-License-Identifier: Apache-2.0
// How many registers ptxas may give a thread of a kernel.
#pragma once

#include "lib/targets/nvidia/NvidiaMachine.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace nereid::nvidia {

/// As the source says, else as many as leave room for the programs that shared memory has room for:
/// paths that are seldom taken would have more, and cost a program's place. None where nothing is
/// gained or what a thread holds in one turn alone needs about as many: sums of products, which are
/// alive together, and what is loaded beside them.
std::optional<int64_t> mostRegisters(mlir::func::FuncOp kernel, const NvidiaMachine &machine,
                                     const tile::AxisInfos &axes, int64_t sharedBytes);

} // namespace nereid::nvidia
