// SPDX-License-Identifier: Apache-2.0
// `nereid verify` on a folder with cases.toml: every case launched and compared with its float64
// reference: compiled, with --interpret in the interpreter, with --runner on another machine.
#pragma once

#include "lib/cli/Command.h"
#include "lib/launch/PreparedKernel.h"

#include <string>

namespace nereid::cli {

struct KernelVerifyOptions {
  std::string input;
  launch::Execution execution;
  /// Of the data that cases are tried on besides their own; drawn and printed without one.
  std::optional<uint64_t> seed = {};
  std::string onlyCase = {}; ///< "" = all that are for test
  /// Folder for the first case that fails; one that is chosen by name is kept if it passes, too.
  std::string keepIn = {};
  /// In this process, whatever a kernel may do to it. Otherwise kernels of devices run in processes
  /// of their own, so that the others are verified when one has lost the device.
  bool isInProcess = false;
  std::string reportTo = {}; ///< of a process for another one: see process/ChildProcess.h
};

/// Says where the tensors of a case are kept; `name` is "" when none failed, `folder` when nobody
/// asked.
void printKept(const std::string &folder, const std::string &name);

void runKernelVerify(const KernelVerifyOptions &options, Session &session);

} // namespace nereid::cli
