// SPDX-License-Identifier: Apache-2.0
// Writes the rounds of chains of products as one loop for all of the chains.
#pragma once

#include "lib/targets/cpu/codegen/ChainRewriter.h"
#include "lib/targets/cpu/codegen/CpuMachine.h"
#include "lib/targets/cpu/codegen/ProductRounds.h"

namespace nereid::cpu {

/// Writes chains before `place`: what stands before their rounds, the loop, and what stands after.
/// All of `rounds` have the same steps and keys.
void writeRounds(llvm::ArrayRef<ProductChain> chains, llvm::ArrayRef<ProductRounds> rounds,
                 llvm::MutableArrayRef<ChainRewriter> rewriters, mlir::Operation *place,
                 const CpuMachine &machine);

} // namespace nereid::cpu
