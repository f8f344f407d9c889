// SPDX-License-Identifier: Apache-2.0
// Integer division that never traps. An element that a mask switched off may divide by whatever was
// loaded for it, a zero included; x86 stops the process there, a GPU does not.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace nereid::lowering {

/// Gives every division and remainder by a divisor that may be 0 a divisor that is not: by zero the
/// result is unspecified, and the smallest integer divided by -1 wraps. `inFloat`: vectors of
/// signed 32-bit numbers are divided in float64, for processors without division of integer
/// vectors.
void makeDivisionsSafe(llvm::Function &function, bool inFloat);

} // namespace nereid::lowering
