// SPDX-License-Identifier: Apache-2.0
// Divisions of integers of 8 and 16 bits: a GPU has no instruction for them, and what takes its
// place is called, element by element.
#pragma once

#include "llvm/IR/Function.h"

namespace nereid::nvidia {

/// Quotients and remainders of such numbers are computed in float32, by an approximated reciprocal;
/// those by zero are unspecified, and none traps.
void divideSmallIntegers(llvm::Function &function);

} // namespace nereid::nvidia
