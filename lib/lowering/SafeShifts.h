// SPDX-License-Identifier: Apache-2.0
// Shifts by the width of the type or more: LLVM leaves the result open and drops stores of it,
// x86 and AArch64 count modulo the width in scalars and not in vectors. The language's result is
// the interpreter's: every bit goes, so that 0 or the sign remains.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace nereid::lowering {

/// Guards every shift by an amount that is not known to be below the width.
void makeShiftsSafe(llvm::Function &function);

} // namespace nereid::lowering
