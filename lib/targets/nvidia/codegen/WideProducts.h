// SPDX-License-Identifier: Apache-2.0
// Both halves of a product by one instruction.
#pragma once

namespace llvm {
class Function;
}

namespace nereid::nvidia {

/// The lower and the upper 32 bits of one product of unsigned integers, as random numbers by
/// counter need them in each round, become `mul.wide.u32`: LLVM 19 makes `mul.lo` and `mul.hi` of
/// them, each of which takes the multiplier as long as both together. Behind all other passes.
/// Example:
///   mul %a, 42 ; trunc (lshr (mul (zext %a), 42), 32)  ->  halves of mul.wide.u32 %a, 42
void joinHalvesOfProducts(llvm::Function &function);

} // namespace nereid::nvidia
