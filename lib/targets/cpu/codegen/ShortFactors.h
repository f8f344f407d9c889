// SPDX-License-Identifier: Apache-2.0
// For x86-64: a product of 64 bits whose factors have 32 is one instruction, vpmuludq. LLVM 19
// finds that out by asking, of every product and of every combination of bits in front of it, which
// bits its operands have; each answer walks back through several products and looks at constants of
// vectors element by element. Rounds of Philox, each of which multiplies what the one before left,
// took half of a kernel's compilation. Here the question is asked once, of LLVM IR.
#pragma once

namespace llvm {
class Module;
}

namespace nereid::cpu {

/// In blocks with many of them, products of vectors whose factors have no more than 32 bits become
/// the instruction, as assembly; masks in front of it that keep the lower 32 bits are left out,
/// since it reads no others. `vectorBytes`: of a register; the instruction wants 32 at least.
void multiplyShortFactors(llvm::Module &module, unsigned vectorBytes);

} // namespace nereid::cpu
