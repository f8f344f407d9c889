// SPDX-License-Identifier: Apache-2.0
// Divisions of 64-bit integers that fit into 32 bits: a GPU has no instruction for either, and the
// wide ones take four times as many of others.
#pragma once

#include "lib/llvm/Analyses.h"

#include "llvm/IR/Function.h"

namespace nereid::nvidia {

/// What is read of the grid is known to be at least 0 and below 2^31, and quotients and remainders
/// of such numbers and of widened ones are computed in 32 bits.
void narrowDivisions(llvm::Function &function, codegen::Analyses &analyses);

} // namespace nereid::nvidia
