// SPDX-License-Identifier: Apache-2.0
// `nereid verify` on a folder with cases.toml: every case launched and compared with its float64
// reference, compiled and (with --interpret) in the interpreter.
#pragma once

#include "lib/cli/Command.h"

#include <string>

namespace nereid::cli {

struct KernelVerifyOptions {
  std::string input, target = "cpu";
  bool interpret = false;
};

void runKernelVerify(const KernelVerifyOptions &options, Session &session);

} // namespace nereid::cli
