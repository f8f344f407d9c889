// SPDX-License-Identifier: Apache-2.0
// Products by matrix instructions, and the ways of their operands through shared memory.
#pragma once

#include "lib/targets/nvidia/threads/ThreadCode.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

#include <optional>

namespace nereid::nvidia {

// ---- MatrixUnit.cpp ----

/// A product for which usesMatrixUnit() holds.
void lowerMatrixUnit(ThreadCode &code, tile::DotOp op);

// ---- MatrixExchange.cpp ----

/// What this thread holds of the tile in the layout `to` of a fragment: vectors are stored and
/// `ldmatrix` reads. Nothing where the layout is no such one or the tile is too large.
std::optional<ThreadCode::Held> exchangedForMatrixUnit(ThreadCode &code, mlir::Value tile,
                                                       const layout::LinearLayout &to);

// ---- Copies.cpp ----

void lowerAsyncCopy(ThreadCode &code, AsyncCopyOp op, const tile::AxisInfos &axes);
void lowerCommitCopies(ThreadCode &code, CommitCopiesOp op);
void lowerWaitCopies(ThreadCode &code, WaitCopiesOp op);
/// Nothing is read here, but by the product that needs it.
void lowerReadCopy(ThreadCode &code, ReadCopyOp op);
void lowerOpaque(ThreadCode &code, OpaqueOp op);

} // namespace nereid::nvidia
