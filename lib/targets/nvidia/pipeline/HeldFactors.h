// SPDX-License-Identifier: Apache-2.0
// Factors of a loop's products that no turn of it changes: key and value of attention's gradients,
// which the loop over the queries multiplies by. In registers a thread holds them for all turns,
// and the warps' instruction alone takes a right one from there; in shared memory they lie once for
// all threads, and warpgroups read them where they are.
#pragma once

#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/pipeline/StagedLoads.h"

namespace nereid::nvidia {

struct HeldFactor {
  mlir::Value tile;         ///< from in front of the loop, whose products use it or its transpose
  int64_t fastest = 1;      ///< dimension that the slot runs along
  int64_t place = 0;        ///< first byte of its slot in shared memory
  bool canBeCopied = false; ///< memory can be copied asynchronously where the tile is loaded
  int64_t bytes() const;
};

/// The tile that a factor is, perhaps transposed.
mlir::Value rootOf(mlir::Value factor);

/// Right factors of products that warpgroups can make of it, then left factors of warpgroups'
/// products, where registers have no room for them beside the sums.
llvm::SmallVector<HeldFactor> heldFactorsOf(mlir::scf::ForOp loop, llvm::ArrayRef<StagedLoad> loads,
                                            const Threads &threads, const tile::AxisInfos &axes);

/// The load that makes the tile, if it may take place where the loop begins, by copies into the
/// slot: nobody but the loop's marked products reads the tile, and nothing in between writes. Null
/// otherwise.
tile::LoadOp copiedLoadOf(mlir::scf::ForOp loop, const HeldFactor &factor);

} // namespace nereid::nvidia
