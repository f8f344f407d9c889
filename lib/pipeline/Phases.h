// SPDX-License-Identifier: Apache-2.0
// The way of a kernel from source to object as one table. Every phase's output can be printed, fed
// back in and dumped; what a phase needs and leaves is in CompileState. Inside of the library.
#pragma once

#include "lib/language/ModuleLoader.h"
#include "lib/pipeline/Compiler.h"
#include "lib/pipeline/Session.h"
#include "lib/pipeline/SourceKernel.h"
#include "lib/pipeline/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace nereid::pipeline {

struct CompileState {
  CompileInput input;
  CompileOptions options;
  Diagnostics &diags;
  Target *target;

  std::string inputText{};                      // of the file at input.path
  std::shared_ptr<const SourceKernel> kernel{}; // where the way began with phase `source`
  Session *session = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module{};
  std::unique_ptr<CodeModule> code{};
  std::string assembly{};
  std::vector<uint8_t> object{};
  runtime::KernelInfo info{};
  std::vector<language::FileState> dependencies{}; // of the kernel, besides the input file
  std::string printed{};                           // the last phase's output
};

struct Phase {
  const char *name;
  const char *extension;
  const char *summary;
  /// Makes the phase's output from that of the one before; false after errors.
  bool (*run)(CompileState &state);
  /// Takes the phase's output from state.inputText instead; null: cannot be fed back in.
  bool (*read)(CompileState &state);
  /// The output as text; null: it is binary.
  std::string (*print)(const CompileState &state);
  /// An ending of its own beside the way to `object`: runs only when it is asked for.
  bool isSideExit = false;
};

/// All phases in order.
std::span<const Phase> allPhases();
/// Index of a phase; -1 for an unknown name.
int findPhase(std::string_view name);

// ---- phases that are more than one call, each in its own file ----

/// Reads the kernel, unless the input brings it.
bool readSource(CompileState &state);
bool emitTile(CompileState &state);
/// Parses MLIR text and finds the kernel in it.
bool readMlir(CompileState &state);
bool readLlvm(CompileState &state);

} // namespace nereid::pipeline
