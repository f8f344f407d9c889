// SPDX-License-Identifier: Apache-2.0
// Where a thread holds the most of tiles: the place to look at when registers do not suffice.
#pragma once

#include "lib/pipeline/Phases.h"

#include <optional>

namespace nereid::nvidia {

/// A remark there, without code and message, whose notes say how many 32-bit registers the tiles
/// take that are still needed, and which the largest are. Tiles that are computed from nothing, and
/// addresses, which share what they have in common, are not counted. Nothing in a kernel without
/// tiles.
std::optional<Diagnostic> fullestPlace(mlir::Operation *kernel,
                                       const pipeline::CompileState &state);

} // namespace nereid::nvidia
