// SPDX-License-Identifier: Apache-2.0
// Loops whose products' operands are not copied ahead: why, as a remark (R0404), and where shared
// memory has no place for the stages that the source asks for, as an error (E0501).
#pragma once

#include "lib/targets/nvidia/NvidiaMachine.h"
#include "lib/targets/nvidia/pipeline/StagedLoads.h"
#include "lib/tile/ir/Tile.h"

namespace nereid::nvidia {

/// Says it at the operation, the loop or a load of it, where the loop has a product in its own
/// block; nothing otherwise, for there is nothing to copy.
void declineLoop(mlir::scf::ForOp loop, mlir::Operation *at, const llvm::Twine &why);

/// A loop in which stagedLoadsOf() finds nothing, or whose turns `found` keeps apart: says what is
/// in the way.
void declineTurns(mlir::scf::ForOp loop, mlir::Operation *found);
void declineOperands(mlir::scf::ForOp loop);

/// Stages that do not fit.
struct StagesAsked {
  int64_t count = 0;
  int64_t bytes = 0;   ///< of shared memory, that they need
  int64_t room = 0;    ///< bytes of shared memory that are left for them
  int64_t fitting = 0; ///< the most that are not refused
};
/// E0501 with the sum; fails.
mlir::LogicalResult refuseStages(mlir::scf::ForOp loop, llvm::ArrayRef<StagedLoad> loads,
                                 const StagesAsked &asked, const NvidiaMachine &machine);

} // namespace nereid::nvidia
