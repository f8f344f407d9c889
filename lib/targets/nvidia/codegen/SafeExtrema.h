// SPDX-License-Identifier: Apache-2.0
// Around a fault of ptxas (seen in CUDA 13.0 and driver 580): for Hopper it makes one instruction
// of max(max(a, -b), c), of signed integers of 16 or 32 bits, and loses the sign of b. min alike.
#pragma once

namespace llvm {
class Function;
}

namespace nereid::nvidia {

/// Keeps every signed maximum and minimum of 32 bits or fewer of the function out of that
/// instruction: a zero that ptxas cannot know is added to its result. Behind all other passes over
/// the function. The addition costs nothing before another maximum or minimum, which takes it
/// along.
void makeExtremaSafe(llvm::Function &function);

} // namespace nereid::nvidia
