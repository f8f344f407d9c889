// SPDX-License-Identifier: Apache-2.0
// The few LLVM IR passes that pay on code that is vectorised already.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace nereid::cpu {

/// EarlyCSE with MemorySSA, InstCombine, SimplifyCFG, LICM on every function with a body;
/// afterwards no extremum of f16 is left, no integer division can trap (SafeDivision.h), and every
/// shift has a result (SafeShifts.h).
void runScalarOptimizations(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace nereid::cpu
