// SPDX-License-Identifier: Apache-2.0
// The loop of a matrix product among the operations of a block.
#pragma once

#include "lib/targets/cpu/lower/block/BlockLowering.h"

namespace nereid::cpu {

/// False when it is another loop, and then nothing was emitted.
bool lowerGemm(BlockLowering &block, mlir::scf::ForOp op);

} // namespace nereid::cpu
