// SPDX-License-Identifier: Apache-2.0
// Loads of a loop that only products read, and what their addresses are made of.
#pragma once

#include "lib/targets/nvidia/pipeline/Remainders.h"
#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/analysis/axis/AxisInfo.h"
#include "lib/tile/ir/Tile.h"

#include "llvm/ADT/SetVector.h"

namespace nereid::nvidia {

struct StagedLoad {
  tile::LoadOp load;
  std::optional<Neighbours> neighbours = {}; ///< of the pointer, where it has them
  int64_t fastest = 1;                       ///< dimension that memory runs along
  int64_t place = 0;                         ///< first byte of its slots in shared memory
  /// Each turn turns the tile to run along the other dimension, in slots that begin at this byte.
  std::optional<int64_t> turned = {};
  int64_t bytes() const; ///< of a slot
};

/// The least that one asynchronous copy moves.
inline constexpr int64_t leastCopiedBytes = 4;
/// Along which dimension one asynchronous copy could move the most bytes of a matrix.
struct CopiedVector {
  int64_t fastest = 1, bytes = 0;
};
CopiedVector vectorOf(mlir::Value pointer, const tile::AxisInfos &axes);

/// What keeps the turns of the loop from overlapping, null where they can: another loop, or an
/// effect that is neither a load nor a store through a known argument.
mlir::Operation *keepsTurnsApart(mlir::scf::ForOp loop, const tile::MemoryAccesses &accesses);
/// The loads of the loop's own block that nothing but operands of matrix instructions needs, each
/// perhaps transposed, through arguments that the loop does not store through. Bytes are among them
/// where warpgroups multiply.
llvm::SmallVector<StagedLoad>
stagedLoadsOf(mlir::scf::ForOp loop, const tile::MemoryAccesses &accesses, bool hasWarpgroups);

/// What has to be computed again for an earlier turn's copy: operations of the loop in order, and
/// the numbers that it carries from turn to turn.
struct Slice {
  llvm::SetVector<mlir::Operation *> operations;
  llvm::SetVector<unsigned> carried;

  /// False where something of it can only be known in its own turn.
  bool add(mlir::scf::ForOp loop, mlir::Value value);
};
/// Adds all that the load's copy needs, or nothing and false.
bool addCopy(Slice &slice, mlir::scf::ForOp loop, const StagedLoad &staged);

} // namespace nereid::nvidia
