// SPDX-License-Identifier: Apache-2.0
// The way of a kernel from source to code as one table: three phases that are the same for all
// targets, then the target's own (Target::phases). Every phase's output can be printed, fed back in
// and dumped; what a phase needs and leaves is in CompileState. For this library and for targets.
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
#include <vector>

namespace nereid::pipeline {

struct CompileState {
  CompileInput input;
  CompileOptions options;
  Diagnostics &diags;
  Target *target;

  std::string inputText{};                      // of the file at input.path
  std::shared_ptr<const SourceKernel> kernel{}; // where the way began with phase `source`
  Session *session = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module{}; // until there is `code`
  std::unique_ptr<CodeModule> code{};
  std::string assembly{};
  std::vector<uint8_t> object{}; // what the target's last phase leaves
  runtime::KernelInfo info{};
  std::optional<Diagnostic> fullest{}; // remark on where a thread holds most, if that is too much
  std::vector<language::FileState> dependencies{}; // of the kernel, besides the input file
  TileLayouts layouts{};                           // with CompileOptions::layouts
  std::string printed{};                           // the last phase's output
};

/// All phases of `target` in order: source, tile and tile-opt, then the target's own.
std::vector<Phase> phasesOf(const Target &target);
/// Index of a phase; -1 for an unknown name.
int findPhase(std::span<const Phase> phases, std::string_view name);

// ---- what rows of targets' tables are made of ----

/// Parses MLIR text and finds the kernel in it.
bool readMlir(CompileState &state);
std::string printMlir(const CompileState &state);
/// Notes on the kernel function what can be asked of tile IR alone and is part of KernelInfo: which
/// arguments are only read, whether floats are added by atomics. For the phase that leaves tile IR.
void noteKernelFacts(CompileState &state);
/// Makes `code`, made from state.module, the output, with what the module says about its kernel.
/// False when it is null.
bool keepCode(CompileState &state, std::unique_ptr<CodeModule> code);
/// Makes `code`, which was read, the output; E0391 when it does not describe its kernel. False
/// without a word when it is null.
bool keepReadCode(CompileState &state, std::unique_ptr<CodeModule> code);
std::string printCode(const CompileState &state);
std::string printAssembly(const CompileState &state);

// ---- phases that are more than one call, each in its own file ----

/// Reads the kernel, unless the input brings it.
bool readSource(CompileState &state);
bool emitTile(CompileState &state);
/// Whether the kernel is one that every target can take: its function, arguments and their
/// description.
bool verifyTile(CompileState &state);
/// That, and no option that another target alone knows (E0306).
bool verifyTileForTarget(CompileState &state);
/// As readMlir; a kernel written by hand gets the description of its arguments.
bool readTile(CompileState &state);

} // namespace nereid::pipeline
