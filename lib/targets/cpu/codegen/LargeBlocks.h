// SPDX-License-Identifier: Apache-2.0
// For RISC-V: LLVM 19 prepares instruction selection by moving splats to their users, and numbers a
// vector instruction's whole block anew to look for some. A block of 28,000 instructions, which a
// large unrolled loop makes, takes minutes.
#pragma once

#include <cstddef>
#include <string>

namespace llvm {
class Module;
}

namespace nereid::cpu {

/// Leaves splats where they are in functions with a block of more than `most` instructions.
/// `features`: what the module is compiled for, as LLVM reads it.
void leaveSplatsInLargeBlocks(llvm::Module &module, const std::string &features, size_t most);

} // namespace nereid::cpu
