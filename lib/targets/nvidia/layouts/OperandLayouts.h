// SPDX-License-Identifier: Apache-2.0
// How the layouts of an operation's operands and of its results depend on each other.
#pragma once

#include "lib/layout/LinearLayout.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace nereid::nvidia {

/// Operations without memory whose result a thread computes from what it holds of the operands, in
/// whichever layout it is wanted: elementwise ones, ranges, splats, and those that move elements to
/// other shapes.
bool worksInAnyLayout(mlir::Operation *op);

/// In which layout such an operation needs a tile operand to give its result in `result`.
layout::LinearLayout operandLayout(mlir::Operation *op, unsigned operand,
                                   const layout::LinearLayout &result);

/// The layout that the result gets for nothing when the tile operand has layout `operand`. Not of a
/// broadcast, whose users decide.
layout::LinearLayout resultLayout(mlir::Operation *op, const layout::LinearLayout &operand);

} // namespace nereid::nvidia
