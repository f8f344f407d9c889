// SPDX-License-Identifier: Apache-2.0
// Loops whose turns are written out one after the other.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace nereid::nvidia {

/// How many turns the loop has, where its bounds and step are known.
std::optional<int64_t> turnsOf(mlir::scf::ForOp loop);

/// The loop's turns one after the other, `turns` being all of them; what is known of a turn's
/// number is folded.
void writeOut(mlir::scf::ForOp loop, int64_t turns);

} // namespace nereid::nvidia
