// SPDX-License-Identifier: Apache-2.0
// Products by matrix instructions, and the ways of their operands through shared memory.
#pragma once

#include "lib/targets/nvidia/layouts/Conversion.h"
#include "lib/targets/nvidia/layouts/SharedTile.h"
#include "lib/targets/nvidia/threads/ThreadCode.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

namespace nereid::nvidia {

// ---- MatrixUnit.cpp ----

/// A product for which usesMatrixUnit() holds.
void lowerMatrixUnit(ThreadCode &code, tile::DotOp op);

// ---- LaneProduct.cpp ----

/// A product for which isLaneProduct() holds.
void lowerLaneProduct(ThreadCode &code, tile::DotOp op);

// ---- WarpgroupUnit.cpp ----

/// A product that is marked as a warpgroup's.
void lowerWarpgroupProduct(ThreadCode &code, tile::DotOp op);
void lowerWaitProducts(ThreadCode &code, WaitProductsOp op);
void lowerAwaitProduct(ThreadCode &code, AwaitProductOp op);

// ---- MatrixExchange.cpp ----

/// Writes the tile into its place in shared memory that begins at `base`, i32, in vectors of so
/// many elements. Barriers are the caller's.
void storeSwizzled(ThreadCode &code, mlir::Value tile, const SharedTile &placed, mlir::Value base,
                   int64_t vector);

/// What this thread holds of the tile in the layout `to` of a fragment: vectors are stored and
/// `ldmatrix` reads.
ThreadCode::Held exchangedForMatrixUnit(ThreadCode &code, mlir::Value tile,
                                        const layout::LinearLayout &to,
                                        const Conversion &conversion);

/// Likewise for a layout in which threads hold neighbours: vectors are stored and loaded.
ThreadCode::Held exchangedInVectors(ThreadCode &code, mlir::Value tile,
                                    const layout::LinearLayout &to, const Conversion &conversion);

// ---- Copies.cpp ----

void lowerAsyncCopy(ThreadCode &code, AsyncCopyOp op, const tile::AxisInfos &axes);
void lowerBeginCopies(ThreadCode &code, BeginCopiesOp op);
void lowerCommitCopies(ThreadCode &code, CommitCopiesOp op);
void lowerWaitCopies(ThreadCode &code, WaitCopiesOp op);
void lowerEndCopies(ThreadCode &code, EndCopiesOp op);
void lowerStoreCopy(ThreadCode &code, StoreCopyOp op);
/// Nothing is read here, but by the product that needs it.
void lowerReadCopy(ThreadCode &code, ReadCopyOp op);
void lowerOpaque(ThreadCode &code, OpaqueOp op);

} // namespace nereid::nvidia
