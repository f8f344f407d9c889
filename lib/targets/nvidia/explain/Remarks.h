// SPDX-License-Identifier: Apache-2.0
// Remarks on what is slow in a kernel and why, each at its line of the source (docs/
// explain-layout.md). They are MLIR's, with their code at the end of the message.
#pragma once

#include "lib/pipeline/Phases.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

namespace nereid::nvidia {

/// Of phase `tile-nvidia`: tiles that move between threads (R0401), bank conflicts (R0402),
/// accesses to memory (R0403). Keeps in state.fullest where a thread holds most.
void remarkOnTiles(pipeline::CompileState &state);

/// Of the phases that leave code: what ptxas, where there is one, spills (R0501).
void remarkOnCode(pipeline::CompileState &state);

// ---- parts of remarkOnTiles ----

void remarkOnConversion(mlir::Operation *convert);
void remarkOnBanks(mlir::Operation *op, const tile::AxisInfos &axes);
/// Of loads, stores and copies; nothing of others.
void remarkOnAccess(mlir::Operation *op, const tile::AxisInfos &axes);

} // namespace nereid::nvidia
