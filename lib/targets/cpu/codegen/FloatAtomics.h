// SPDX-License-Identifier: Apache-2.0
// For AArch64 without LSE: LLVM 19 turns an atomic operation on floats into a compare-and-exchange
// whose store it does not check (the register for its status is dead, and becomes wzr), so that
// updates of other threads are lost.
#pragma once

namespace llvm {
class Module;
}

namespace nereid::cpu {

/// Writes atomic operations on floating-point numbers as loops over compare-and-exchange of
/// integers, which LLVM expands rightly.
void expandFloatAtomics(llvm::Module &module);

} // namespace nereid::cpu
