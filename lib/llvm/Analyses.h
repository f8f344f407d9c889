// SPDX-License-Identifier: Apache-2.0
// The analyses that a target's few passes on LLVM IR ask for. PassBuilder and its pipelines are not
// used: they cost 4 to 8 ms per kernel and 9 MB of program for no gain in speed.
#pragma once

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class TargetMachine;
}

namespace nereid::codegen {

/// Registers by hand what passes ask for. A pass that asks for an analysis that is missing here
/// aborts, which the tests would see at once: the set does not depend on the kernel.
struct Analyses {
  /// `machine` must outlive it.
  explicit Analyses(llvm::TargetMachine &machine);
  Analyses(const Analyses &) = delete;
  Analyses &operator=(const Analyses &) = delete;

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;
};

} // namespace nereid::codegen
