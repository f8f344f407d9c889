// SPDX-License-Identifier: Apache-2.0
// Two roundings to 16 bits by one instruction.
#pragma once

namespace llvm {
class Function;
}

namespace nereid::nvidia {

/// Words of 32 bits that hold two float32 rounded to float16 or to bfloat16 are made by
/// `cvt.rn.f16x2.f32` and its like, which LLVM 19 has as intrinsics only: one conversion for two,
/// and none of the shifts that put halves together. Behind all other passes. Example:
///   or (zext (fptrunc %low)), (shl (zext (fptrunc %high)), 16)  ->  ff2f16x2.rn(%high, %low)
/// A number that is rounded alone is the lower one of such a pair: the instruction for one takes
/// the slow path of functions.
void pairRoundings(llvm::Function &function);

} // namespace nereid::nvidia
