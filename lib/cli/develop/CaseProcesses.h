// SPDX-License-Identifier: Apache-2.0
// The cases of a folder of kernels on a device, in processes of their own (process/ChildProcess.h):
// one that loses the device is the last one in its process, and the others go on in the next.
#pragma once

#include "lib/cli/Command.h"
#include "lib/cli/develop/KernelBench.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::cli {

using CaseNumbers = std::vector<size_t>;

/// Whether this process does the cases itself: it is such a process, nothing is lost with a device,
/// or one kernel alone has no neighbours that it could take the device from.
bool casesRunHere(const KernelBenchOptions &options);

/// Of so many cases those that this process is asked for: all, or what another one numbered, with
/// which it ends then.
CaseNumbers askedCases(size_t count, const KernelBenchOptions &options);

/// The command line of a process for these cases.
std::vector<std::string> caseWords(const std::string &command, const KernelBenchOptions &options,
                                   const CaseNumbers &numbers, const Session &session);

class CaseProcesses {
public:
  /// `command`: "bench" or another one that knows the options of bench.
  CaseProcesses(std::string command, const KernelBenchOptions &options, Session &session)
      : command(std::move(command)), options(options), session(session) {}

  /// Takes what a process reported of its first cases; how many they are, nothing when it cannot be
  /// used and the session has failed.
  std::function<std::optional<size_t>(const nlohmann::ordered_json &report)> take;
  /// Takes what ended the process that had this case alone.
  std::function<void(size_t number, const std::string &fate)> takeDead;

  /// False when the session has failed. Ends early when the user interrupts.
  bool run(CaseNumbers numbers) const;

private:
  std::string command;
  const KernelBenchOptions &options;
  Session &session;
};

} // namespace nereid::cli
