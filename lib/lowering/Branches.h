// SPDX-License-Identifier: Apache-2.0
// Branches around what only few lanes need.
#pragma once

#include "lib/lowering/math/Lanes.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::lowering {

/// Whether the condition holds for any lane, as a scalar.
mlir::Value isAny(Lanes condition);

/// What `rare` makes where the condition holds, behind a branch that no lane may need, else
/// `usual`.
Lanes unlessRare(Lanes isRare, Lanes usual, llvm::function_ref<Lanes()> rare);

} // namespace nereid::lowering
