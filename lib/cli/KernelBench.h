// SPDX-License-Identifier: Apache-2.0
// `nereid bench` on kernels somebody wrote: a folder with cases.toml, or one file with a signature,
// grid and arguments. Accuracy first where there is a reference.
#pragma once

#include "lib/cli/Command.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::cli {

struct KernelBenchOptions {
  std::string input, target = "cpu", signature, grid = "1", bytes, flops, caseName;
  std::vector<std::string> arguments;
  double secondsPerCase = 3;
  std::string against; ///< an earlier result file, empty = none
};

void addKernelBenchOptions(CLI::App &command, KernelBenchOptions &options);
/// An option that means nothing for the file or folder of kernels, see OptionUse.h.
std::optional<Diagnostic> unusedBenchOption(const CLI::App &command, const std::string &input);
/// A .py file, or a folder with cases.toml.
bool isKernelBench(const std::string &input);
void runKernelBench(const KernelBenchOptions &options, Session &session);

} // namespace nereid::cli
