// SPDX-License-Identifier: Apache-2.0
// By how much values grow from turn to turn of a loop, where that is a number that is known: of
// `start + tl.arange(0, 1024)` in `for start in range(0, n, 1024)` 1024.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace nereid::tile {

/// What each turn of the loop adds to the value, for a tile to all of its elements; of addresses in
/// elements of what they point to. Nothing where it is not known, or where integers of the sum
/// might wrap around.
std::optional<int64_t> addedPerTurn(mlir::Value value, mlir::scf::ForOp loop);

} // namespace nereid::tile
