// SPDX-License-Identifier: Apache-2.0
// LLVM's code generator for one target machine: LLVM IR to an object or to assembly. A target
// chooses here what of it runs, for itself and not for the process.
#pragma once

#include "lib/llvm/OptionScope.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CodeGen.h"

#include <memory>
#include <span>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace nereid::codegen {

struct EmissionOptions {
  /// Passes of the code generator that are not run, by their names (`llc --print-passes` of LLVM);
  /// names that a machine's code generator does not have are passed over. Must outlive the emitter.
  std::span<const char *const> disabledPasses = {};
  /// What LLVM has for the whole process alone; see OptionScope. Must outlive the emitter.
  std::span<const LlvmOption> options = {};
};

/// Serves one thread at a time.
class Emitter {
public:
  /// `machine` must outlive it.
  Emitter(llvm::TargetMachine &machine, EmissionOptions options);
  ~Emitter();

  /// The file's bytes, which hold until the next call; null when the machine cannot write such
  /// files. Code generation changes `module`, so it runs once on each.
  const llvm::SmallVectorImpl<char> *emit(llvm::Module &module, llvm::CodeGenFileType type);

private:
  struct Passes;
  llvm::TargetMachine &machine;
  EmissionOptions options;
  std::unique_ptr<Passes> object, assembly; ///< by what they write; null until needed
};

} // namespace nereid::codegen
