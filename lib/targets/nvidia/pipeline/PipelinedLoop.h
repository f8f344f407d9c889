// SPDX-License-Identifier: Apache-2.0
// A loop in the form in which it copies operands of its products ahead: what is decided about it,
// and the loops that take its place.
#pragma once

#include "lib/targets/nvidia/pipeline/HeldFactors.h"
#include "lib/targets/nvidia/pipeline/StagedLoads.h"

namespace nereid::nvidia {

struct LoopPlan {
  llvm::SmallVector<StagedLoad> loads;
  llvm::SmallVector<HeldFactor> held;
  int64_t stages = 2;
  bool isForWarpgroups = false; ///< some products are marked as warpgroups'
  int64_t deferred = 0;         ///< products of a turn that end in the next one
};

/// Says where the slots of each load and those of the factors begin; returns the bytes of all.
int64_t placeSlots(llvm::MutableArrayRef<StagedLoad> loads, llvm::MutableArrayRef<HeldFactor> held,
                   int64_t stages);

/// Writes the loops, in whose place `loop` is erased. Slots have their places, and products their
/// marks.
void pipelineLoop(mlir::scf::ForOp loop, LoopPlan plan);

} // namespace nereid::nvidia
