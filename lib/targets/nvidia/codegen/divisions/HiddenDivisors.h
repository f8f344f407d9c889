// SPDX-License-Identifier: Apache-2.0
// Divisions of 32-bit integers as they are: a GPU divides by zero without stopping, and by -1 with
// wrapping, so that no other divisor has to be chosen. That takes five instructions for each, of
// twenty, and index arithmetic has a division or two for each element.
#pragma once

namespace llvm {
class BinaryOperator;
class Function;
} // namespace llvm

namespace nereid::nvidia {

/// Hides the divisors of such divisions from LLVM, which would take from a division that its
/// divisor is not zero anywhere else either. Before all other passes.
void hideDivisors(llvm::Function &function);

/// Whether the divisor is hidden.
bool isDivisorHidden(const llvm::BinaryOperator &division);

} // namespace nereid::nvidia
