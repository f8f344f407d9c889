// SPDX-License-Identifier: Apache-2.0
// Which products of a pipelined loop warpgroups make: four warps multiply tiles that lie in shared
// memory by `wgmma`, which runs beside the threads' own code (PTX ISA, "Asynchronous warpgroup
// level matrix instructions").
#pragma once

#include "lib/targets/nvidia/pipeline/HeldFactors.h"

namespace nereid::nvidia {

/// The load that an operand is, perhaps transposed; null where it is none of these.
const StagedLoad *stagedLoadOf(mlir::Value operand, llvm::ArrayRef<StagedLoad> loads);
/// The factor that an operand is, perhaps transposed; null where it is none of these.
const HeldFactor *heldFactorOf(mlir::Value operand, llvm::ArrayRef<HeldFactor> held);

/// The dimension that memory runs along in the slot of an operand, or of what it is the transpose
/// of; nothing where it has no slot.
std::optional<int64_t> fastestInSlot(mlir::Value operand, llvm::ArrayRef<StagedLoad> loads,
                                     llvm::ArrayRef<HeldFactor> held);

/// Whether the right operand is in a slot from which warpgroups can read it. The left one may be in
/// a slot, too, or in registers.
bool canWarpgroupsMultiply(tile::DotOp dot, llvm::ArrayRef<StagedLoad> loads,
                           llvm::ArrayRef<HeldFactor> held, const Threads &threads);

/// Leaves out loads of bytes of which some product is not a warpgroup's: warps read no slots of
/// them. Says which are turned, as warpgroups read bytes along k alone.
void keepBytesOfWarpgroups(llvm::SmallVector<StagedLoad> &loads, const Threads &threads);

/// Marks those that warpgroups can make. Products that nothing but the next turn's product waits
/// for are deferred: returns how many.
int64_t markWarpgroupProducts(mlir::scf::ForOp loop, llvm::ArrayRef<StagedLoad> loads,
                              llvm::ArrayRef<HeldFactor> held, const Threads &threads);

} // namespace nereid::nvidia
