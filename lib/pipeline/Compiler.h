// SPDX-License-Identifier: Apache-2.0
// From a kernel's file to something that runs, through named phases. This header knows no MLIR, so
// that the command line, the tuner and the C API stay cheap to build. The phases are source → tile
// → tile-opt, then the target's own, for cpu → tile-cpu → loops → loops-opt → llvm → object (see
// phaseNames). Each phase's output is a file: --to stops after one, --from starts with such a file,
// --dump-to writes all.
#pragma once

#include "lib/language/signature/Signature.h"
#include "lib/pipeline/kernel/TileLayouts.h"
#include "lib/support/Diagnostics.h"
#include "runtime/Kernel.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nereid {
struct InterpretOptions; // lib/interpreter/Interpreter.h, which knows MLIR
}

namespace nereid::pipeline {

struct SourceKernel;

struct PhaseTime {
  std::string phase;
  double millis = 0;
};

struct CompileOptions {
  std::string target = "cpu"; ///< "cpu", "cpu:x86-64-v3", …
  /// To load on, "cpu:0"; empty = the one that names the target, else the first of its kind.
  std::string device = {};
  std::string chip = {};       ///< file of the descriptor to shape code for; empty = none
  std::string from = "source"; ///< phase whose output the input file is
  std::string to;              ///< last phase to run; empty = the target's last
  std::string dumpTo;          ///< folder, created; empty = none
  bool verifyEach = false;
  bool useCache = true;
  bool remarks = false; ///< diags gets remarks on what the target could not make fast, R03 to R05
  bool layouts = false; ///< only CompileOutput::layouts is wanted, instead of the output of `to`
  /// Where the kernel takes too much memory (E0501), says what near its sizes fits, which compiles
  /// it again some times.
  bool findsFitting = true;
};

struct CompileInput {
  std::string path;                       ///< .py, or what --from says
  std::string function;                   ///< empty = the only kernel in the file
  std::string signature;                  ///< text; parsed against the kernel
  std::optional<std::string> source = {}; ///< content to use instead of reading `path`, which then
                                          ///< only names it in messages and finds its imports
  /// Folders searched for imported modules, before those of NEREID_IMPORT_PATH.
  std::vector<std::string> importPaths = {};
  /// What readKernel made of the same input: it is not read again. Null = it is read when needed.
  std::shared_ptr<const SourceKernel> kernel = nullptr;
};

/// The content to compile: of `kernel` or `source` where there is one, else of the file. E0001.
Result<std::string> sourceText(const CompileInput &input);

struct CompileOutput {
  std::string text;            ///< printable phases: the output of phase `to`
  std::vector<uint8_t> object; ///< of the target's last phase
  runtime::KernelInfo info;
  std::vector<PhaseTime> times;
  bool fromCache = false;
  /// Absolute paths of the files that decided what was made: the input and what it imports.
  std::vector<std::string> sources;
  TileLayouts layouts;        ///< with CompileOptions::layouts
  std::string specialization; ///< what every parameter stands for, and why; empty from the cache
};

/// What a user needs to know of a phase.
struct PhaseName {
  std::string name, extension, summary;
  bool isSideExit = false; ///< beside the way: runs only when it is asked for
};

/// The phases of a target in order: of "cpu" source, tile, tile-opt, tile-cpu, loops,
/// loops-opt, llvm, asm, object. All targets of a vendor have the same; for a vendor alone no
/// device is looked for. E0303.
Result<std::vector<PhaseName>> phaseNames(std::string_view target);

/// Runs the phases. On failure returns nothing and diags says why (E01xx…E05xx).
std::optional<CompileOutput> compile(const CompileInput &input, const CompileOptions &options,
                                     Diagnostics &diags);

/// What the kernel's tl.static_print says, line by line.
std::string staticOutput(const Diagnostics &diags);

/// compile (or cache hit) + load on the device, which is of the target's kind ("cpu:0" for
/// "cpu:x86-64-v3"; E0415 when there is none, E0416 when it is of another): ready to launch. Writes
/// what tl.static_print says to standard output, as upstream's compiler does.
std::optional<runtime::Kernel> compileKernel(const CompileInput &input,
                                             const CompileOptions &options, Diagnostics &diags);

/// Runs the kernel in the interpreter (the oracle) on host tensors instead of compiling it.
bool interpretKernel(const CompileInput &input, runtime::Grid grid,
                     std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags);
bool interpretKernel(const CompileInput &input, runtime::Grid grid,
                     std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags,
                     const InterpretOptions &options);

} // namespace nereid::pipeline
