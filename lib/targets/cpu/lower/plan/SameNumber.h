// SPDX-License-Identifier: Apache-2.0
// Whether two values are the same number by the program's text, whatever the dimension along which
// they vary: `(k + range)[None, :]` of one operand's mask and `(k + range)[:, None]` of the
// other's.
#pragma once

#include "mlir/IR/Value.h"

namespace nereid::cpu {

/// Of tiles that vary along one dimension at most: element i of one is element i of the other.
bool isSameNumber(mlir::Value a, mlir::Value b);

} // namespace nereid::cpu
