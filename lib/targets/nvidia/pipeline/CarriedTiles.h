// SPDX-License-Identifier: Apache-2.0
// Tiles that a loop moves by the same amount in each turn.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::nvidia {

/// Makes a tile of addresses or integers that each turn adds one number to, which the loop does not
/// change, a tile from before the loop plus one scalar that the loop carries: what is computed
/// turns ahead then needs no second tile. Returns the loop that stands in the place of this one.
///   p = for … iter_args(p = p0) { … ; yield addptr(p, splat(n)) }
///   o = for … iter_args(o = 0) { p = addptr(p0, splat(o)) ; … ; yield o + n } ; p = addptr(p0, o)
mlir::scf::ForOp carryScalars(mlir::scf::ForOp loop);

} // namespace nereid::nvidia
