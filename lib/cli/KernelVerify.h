// SPDX-License-Identifier: Apache-2.0
// `nereid verify` on a folder with cases.toml: every case launched and compared with its float64
// reference: compiled, with --interpret in the interpreter, with --runner on another machine.
#pragma once

#include "lib/cli/Command.h"
#include "lib/cli/KernelLauncher.h"

#include <string>

namespace nereid::cli {

struct KernelVerifyOptions {
  std::string input;
  Execution execution;
  /// Of the data that cases are tried on besides their own; drawn and printed without one.
  std::optional<uint64_t> seed = {};
};

void runKernelVerify(const KernelVerifyOptions &options, Session &session);

} // namespace nereid::cli
