// SPDX-License-Identifier: Apache-2.0
// A zero that neither LLVM nor ptxas knows: added to a number it keeps instructions apart that
// ptxas would join in a wrong way.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace nereid::nvidia {

/// Adds the zero to the results of these instructions of the function, integers of 32 bits or
/// fewer.
void addUnknownZero(llvm::Function &function, llvm::ArrayRef<llvm::Instruction *> instructions);

} // namespace nereid::nvidia
