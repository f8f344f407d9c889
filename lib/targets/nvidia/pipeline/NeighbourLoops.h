// SPDX-License-Identifier: Apache-2.0
// Two forms of a loop, one for addresses whose neighbours stay neighbours (Remainders.h), and one
// for all others.
#pragma once

#include "lib/targets/nvidia/pipeline/StagedLoads.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace nereid::nvidia {

struct OtherLoop {
  mlir::scf::ForOp loop;
  llvm::SmallVector<StagedLoad> loads; ///< the same ones, of this loop, element by element
};

/// Conditions that no turn changes are asked once: where they hold, the loop takes neighbours
/// without asking, and where not, a copy of it, which is returned, takes its elements one by one.
/// Two ways of addresses in every turn cost a product a tenth to a fifth of its rate. Nothing where
/// no load has such a condition.
std::optional<OtherLoop> askForNeighbours(mlir::scf::ForOp loop,
                                          llvm::MutableArrayRef<StagedLoad> loads);

} // namespace nereid::nvidia
