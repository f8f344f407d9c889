// SPDX-License-Identifier: Apache-2.0
// How values of tile IR are called when a user is told of them.
#pragma once

#include "lib/targets/nvidia/ir/Nvidia.h"

#include <string>

namespace nereid::nvidia {

/// "f16", "ptr<f16>".
std::string elementName(mlir::Type element);
/// "64x32xf16".
std::string tileName(mlir::Value tile);
/// Whether all tiles that the operation takes and makes have layouts, as the phase leaves them.
bool hasLayouts(mlir::Operation *op);
/// The operation that makes a value; of what a loop hands on, the loop.
mlir::Operation *makerOf(mlir::Value value);
/// "'tile.load' at line 14", or without a line where the place is none.
std::string operationName(mlir::Operation *op);

} // namespace nereid::nvidia
