// SPDX-License-Identifier: Apache-2.0
// The few LLVM IR passes that pay on code that is vectorised already. PassBuilder and its pipelines
// are not used: they cost 4 to 8 ms per kernel and 9 MB of program for no gain in speed.
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
