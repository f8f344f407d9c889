// SPDX-License-Identifier: Apache-2.0
// What every command shares: its registration, the JSON switch, the exit status, and how
// diagnostics reach the user. One file per command registers itself in Cli.cpp.
#pragma once

#include "lib/support/Diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
} // namespace CLI

namespace nereid::cli {

enum ExitStatus { exitDone = 0, exitCheckFailed = 1, exitBadInput = 2, exitInternal = 70 };

struct Session {
  bool json = false; ///< --json: results as JSON on standard output, diagnostics on standard error
  int status = exitDone;
  std::vector<std::string> importPaths; ///< --import-path of the command that runs
  std::optional<Diagnostic> failure;    ///< the first error that was printed

  /// Prints the diagnostics and sets the status: 70 for our own bug (E0390), else 2.
  void fail(const Diagnostics &diags);
  void fail(const Diagnostic &diagnostic);
  /// The diagnostics when there are errors among them, else `otherwise`.
  void fail(const Diagnostics &diags, const Diagnostic &otherwise);
};

/// Writes warnings to standard error, and what a kernel's meaning hangs on or upstream warns of
/// (R0204, R0205), each once in a process, however often its kernel is compiled or interpreted.
void printWarnings(const Diagnostics &diags);

/// A number between these ends; CLI11's own range takes NaN for one.
CLI::Validator between(double low, double high);
/// A whole number of 64 bits without a sign; CLI11 wraps -1, and ends what is larger at the
/// largest.
CLI::Validator wholeNumber();

/// Of --chip.
inline constexpr const char *chipHelp = "descriptor of the chip that code is shaped for";

void addRun(CLI::App &app, Session &session);
void addCheck(CLI::App &app, Session &session);
void addCompile(CLI::App &app, Session &session);
void addBench(CLI::App &app, Session &session);
void addProfile(CLI::App &app, Session &session);
void addTune(CLI::App &app, Session &session);
void addCalibrate(CLI::App &app, Session &session);
void addExplainLayout(CLI::App &app, Session &session);
void addDevelop(CLI::App &app, Session &session);
void addGenerate(CLI::App &app, Session &session);
void addDiff(CLI::App &app, Session &session);
void addDefine(CLI::App &app, Session &session);
void addAnalyze(CLI::App &app, Session &session);
void addImport(CLI::App &app, Session &session);
void addVerify(CLI::App &app, Session &session);
void addOptimize(CLI::App &app, Session &session);
void addInformation(CLI::App &app, Session &session); ///< explain, chips, ops, knobs, doctor

/// `--blocking`, for every command that launches kernels: the knob NEREID_BLOCKING, for this
/// process and those it starts.
void addBlocking(CLI::App &command);

/// `--import-path DIR`, for every command that compiles or interprets kernels.
void addImportPaths(CLI::App &command, Session &session);

} // namespace nereid::cli
