// SPDX-License-Identifier: Apache-2.0
// Which loops may wait for another program of the grid: those whose end depends on memory that
// others write. Such a loop gives way to the other programs in every iteration, and a kernel that
// has one is launched with its programs side by side (runtime/Coroutines.h).
#pragma once

#include "lib/tile/ir/Tile.h"

#include <optional>

namespace nereid::cpu {

/// Nothing when the condition is computed from values alone. Otherwise the scalars of the condition
/// block that the condition depends on: while none of them changes, the program only waits.
std::optional<llvm::SmallVector<mlir::Value>> waitsOn(mlir::scf::WhileOp loop);

/// The body polls: it has a volatile load, or an atomic whose result is used. The number of
/// iterations is fixed, so this is no deadlock, but others must run for the polling to succeed.
bool polls(mlir::scf::ForOp loop);

} // namespace nereid::cpu
