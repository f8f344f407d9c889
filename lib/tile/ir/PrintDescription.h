// SPDX-License-Identifier: Apache-2.0
// How the operands of tile.print are written, as runtime/core/PrintLine.h reads it.
#pragma once

#include "lib/tile/ir/Tile.h"

#include <string>

namespace nereid::tile {

/// Attribute of tile.print: the numbers of the operands that are unsigned, which the type of an
/// MLIR integer does not say.
inline constexpr const char *unsignedOperands = "tile.unsigned";

/// Of one operand; without operands of the text alone.
std::string printDescription(PrintOp op, unsigned operand);

} // namespace nereid::tile
