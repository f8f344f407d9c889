// SPDX-License-Identifier: Apache-2.0
// Which products of a pipelined loop warpgroups make: four warps multiply tiles that lie in shared
// memory by `wgmma`, which runs beside the threads' own code (PTX ISA, "Asynchronous warpgroup
// level matrix instructions").
#pragma once

#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/pipeline/StagedLoads.h"

namespace nereid::nvidia {

/// The load that an operand is, perhaps transposed; null where it is none of these.
const StagedLoad *stagedLoadOf(mlir::Value operand, llvm::ArrayRef<StagedLoad> loads);

/// Marks those whose right operand is one of the staged loads; the left one is one, too, or is
/// held in registers. Products that nothing but the next turn's product waits for are deferred:
/// returns how many.
int64_t markWarpgroupProducts(mlir::scf::ForOp loop, llvm::ArrayRef<StagedLoad> loads,
                              const Threads &threads);

} // namespace nereid::nvidia
