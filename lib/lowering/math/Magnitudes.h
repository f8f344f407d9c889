// SPDX-License-Identifier: Apache-2.0
// How large a number can be by how it was made: functions have forms that only small arguments
// take.
#pragma once

#include "mlir/IR/Value.h"

namespace nereid::lowering {

/// The largest magnitude of a float scalar or vector, NaN aside; infinity where nothing is known.
double largestMagnitude(mlir::Value value);
/// Whether the number was f16 before: a finite one is no larger than 65504.
bool wasFloat16(mlir::Value value);

} // namespace nereid::lowering
