// SPDX-License-Identifier: Apache-2.0
// `nereid bench` on kernels somebody wrote: a folder with cases.toml, or one file with a signature,
// grid and arguments. Accuracy first where there is a reference.
#pragma once

#include "lib/cli/Command.h"
#include "lib/launch/GivenCases.h"
#include "lib/launch/KernelCases.h"

#include <optional>
#include <string>

namespace nereid::cli {

struct KernelBenchOptions {
  /// What the command line says: of a folder of kernels its path alone.
  launch::KernelCase given;
  launch::GivenFormulas formulas;
  std::string target = "cpu", chip, caseName;
  double secondsPerCase = 3;
  std::string against;      ///< an earlier result file, empty = none
  bool isInProcess = false; ///< and reportTo: as those of KernelVerifyOptions
  std::string reportTo = {};
  std::vector<size_t> numbers = {};     ///< of the cases that another process asks for
  std::vector<size_t> without = {};     ///< of tune: configs that it leaves out
  bool isSearch = false;                ///< of tune: beyond the kernel's configs, see TuneSearch.h
  std::vector<std::string> points = {}; ///< of such a search: those that another process asks for
  bool isLadder = false;                ///< see KernelLadder.h
  std::string report = {};              ///< Markdown of ladders or of a sweep, pictures beside it
};

void addKernelBenchOptions(CLI::App &command, KernelBenchOptions &options);
/// Whether the cases of a folder run in processes of their own, and what passes between those.
void addProcessOptions(CLI::App &command, KernelBenchOptions &options);
/// The same where no cases are numbered.
void addProcessOptions(CLI::App &command, bool &isInProcess, std::string &reportTo);
/// An option that means nothing for the file or folder of kernels, see OptionUse.h.
std::optional<Diagnostic> unusedBenchOption(const CLI::App &command, const std::string &input);
/// The cases of the folder that are for bench, or the one that is named, or the command line's.
Result<std::vector<launch::KernelCase>> benchCases(const KernelBenchOptions &options);
/// A .py file, or a folder with cases.toml.
bool isKernelBench(const std::string &input);
void runKernelBench(const KernelBenchOptions &options, Session &session);

} // namespace nereid::cli
