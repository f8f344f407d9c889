// SPDX-License-Identifier: Apache-2.0
// Around a fault of ptxas (seen in CUDA 13.0 and driver 580): of a number to which a loop adds the
// upper half of a product, such as a quotient by a constant, it makes one instruction, unrolls the
// loop, and takes the sums of several turns for one.
#pragma once

namespace llvm {
class Function;
}

namespace nereid::nvidia {

/// Keeps upper halves of products of 32 bits out of that instruction where they are added to
/// something: a zero that ptxas cannot know is added first. Behind all other passes.
void makeQuotientsSafe(llvm::Function &function);

} // namespace nereid::nvidia
