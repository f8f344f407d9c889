// SPDX-License-Identifier: Apache-2.0
// tl.gather: elements picked from a tile in scratch by an index tile.
#pragma once

#include "lib/targets/cpu/lower/elements/Evaluator.h"

namespace nereid::cpu {

/// Elements as memory holds them: addresses are integers.
mlir::Value evaluateGather(Evaluator &evaluator, tile::GatherOp op, const Dims &dims, unsigned copy,
                           mlir::OpBuilder &builder);

/// The lanes of a gather whose elements stand side by side in the source, in whatever order; null
/// when they may not. `base` is the address of the line they are in.
mlir::Value gatherNeighbours(Evaluator &evaluator, tile::GatherOp op, const Dims &dims,
                             unsigned copy, mlir::OpBuilder &builder, mlir::Value base,
                             mlir::Type memory);

} // namespace nereid::cpu
