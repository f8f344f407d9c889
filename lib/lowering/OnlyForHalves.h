// SPDX-License-Identifier: Apache-2.0
// What becomes of a number: where all of it is rounded to 16 bits, a function need not be right in
// more.
#pragma once

#include "mlir/IR/Operation.h"

namespace nereid::lowering {

/// Whether the number is 1 or more, or NaN: one and a power.
bool isOneAndPower(mlir::Value value);

/// Whether it rounds to 16 bits.
bool roundsToHalf(mlir::Operation *op);

/// Whether all that becomes of the number is rounded to 16 bits, with no larger part of it off than
/// of the number.
bool isOnlyForHalves(mlir::Value value);

} // namespace nereid::lowering
