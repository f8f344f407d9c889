// SPDX-License-Identifier: Apache-2.0
// `nereid compile --emit object|header|shared|static`: a kernel as a library for C, with its header
// and a CMake file beside it.
#pragma once

#include "lib/cli/Command.h"

#include <string>
#include <vector>

namespace nereid::cli {

struct LibraryOptions {
  std::string kernel, form; ///< form: "object", "header", "static" or "shared"
  std::vector<std::string> signatures, targets, gridArguments, chosen;
  std::string grid, name, output, runtime, depfile, architecture, chip;
  bool useCache = true;
};

void compileLibrary(const LibraryOptions &options, Session &session);

/// "cpu:x86-64-v3,cpu:x86-64-v4,+avx512bf16" is two targets.
std::vector<std::string> splitTargets(const std::vector<std::string> &texts);

} // namespace nereid::cli
