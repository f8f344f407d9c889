// SPDX-License-Identifier: Apache-2.0
// What tile-opt and cpu-opt are: a program that reads MLIR text, runs the passes named on the
// command line in order, and prints the result.
//   NAME [--split-input-file] [--verify-diagnostics] [--PASS …] [FILE]
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <functional>

namespace nereid::tools {

struct NamedPass {
  llvm::StringRef flag, summary;
  std::function<void(mlir::OpPassManager &)> add;
};

struct PassTool {
  llvm::StringRef name;
  llvm::ArrayRef<NamedPass> passes;
  void (*loadDialects)(mlir::MLIRContext &context);
  /// An option of this tool alone, without its `--`; false when it is none.
  std::function<bool(llvm::StringRef)> takesOption = [](llvm::StringRef) { return false; };
  llvm::StringRef usage = ""; ///< of those options
};

/// The exit status: 0, 1 when a pass or an expectation failed, 2 for the command line and files.
int runPassTool(const PassTool &tool, int argc, char **argv);

} // namespace nereid::tools
