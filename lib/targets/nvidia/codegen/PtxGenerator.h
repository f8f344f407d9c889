// SPDX-License-Identifier: Apache-2.0
// LLVM's code generator for PTX: from the LLVM dialect to optimised LLVM IR, and from that to text.
#pragma once

#include "lib/pipeline/Target.h"
#include "lib/targets/nvidia/NvidiaMachine.h"

#include <memory>
#include <string>
#include <string_view>

namespace mlir {
class ModuleOp;
}

namespace nereid::nvidia {

/// What the assembler is told of a kernel's launches.
struct LaunchBounds {
  int64_t threads = 0;       ///< of a block
  int64_t blocks = 1;        ///< of a program
  int64_t mostRegisters = 0; ///< of a thread; 0: as many as the assembler likes
  bool waits = false;        ///< first of all for what the grids before it write
};

/// Serves one thread at a time.
class PtxGenerator {
public:
  explicit PtxGenerator(NvidiaMachine machine);
  ~PtxGenerator();

  /// The only function with a body is the kernel. Null with E0390.
  std::unique_ptr<pipeline::CodeModule> translate(mlir::ModuleOp module, const LaunchBounds &bounds,
                                                  Diagnostics &diags);
  /// LLVM IR text, which `path` names in messages. Null with E0391.
  std::unique_ptr<pipeline::CodeModule> parse(std::string_view text, const std::string &path,
                                              Diagnostics &diags);
  /// What the code generator must not have in the module, see LegalCode.h; empty: nothing.
  std::string refusalOf(const pipeline::CodeModule &code) const;
  /// Of a module that nothing is refused of.
  bool emitPtx(pipeline::CodeModule &code, std::string &text, Diagnostics &diags);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace nereid::nvidia
