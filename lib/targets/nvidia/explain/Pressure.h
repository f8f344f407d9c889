// SPDX-License-Identifier: Apache-2.0
// Where a thread holds the most of tiles: the place to look at when registers do not suffice.
#pragma once

#include "lib/pipeline/Phases.h"

#include <optional>

namespace nereid::nvidia {

struct FullestPlace {
  int64_t registers = 0; ///< of 32 bits, that the tiles take which are still needed
  Diagnostic place;      ///< without code and message; its notes say which tiles the largest are
};

/// Tiles that are computed from nothing, and addresses, which share what they have in common, are
/// not counted. Nothing in a kernel without tiles.
std::optional<FullestPlace> fullestPlace(mlir::Operation *kernel,
                                         const pipeline::CompileState &state);

/// E0501 for a kernel whose tiles need several times the registers of a thread at once: nearly all
/// of them would lie in memory, and LLVM and ptxas take minutes over such code.
std::optional<Diagnostic> excessOfRegisters(mlir::Operation *kernel,
                                            const pipeline::CompileState &state);

} // namespace nereid::nvidia
