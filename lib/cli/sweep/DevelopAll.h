// SPDX-License-Identifier: Apache-2.0
// `nereid develop --all`: every definition of a folder, each in a process of its own
// (process/ChildProcess.h), so that one which crashes, hangs or loses a device is one row of the
// summary and not the end of the others.
#pragma once

#include "lib/cli/Command.h"
#include "runtime/elements/DType.h"

#include <string>
#include <vector>

namespace nereid::cli {

/// Where a sweep's results are, when nobody says otherwise.
inline constexpr const char *sweepFolder = "developed";

struct DevelopAllOptions {
  std::string folder; ///< of definitions; "" = those that ship with the program
  std::string out;    ///< "" = sweepFolder
  std::string target, chip;
  std::vector<DType> dtypes; ///< empty: all of each definition
  bool isFresh = false, requiresTarget = false;
  double secondsPerOperator = 3600;
  /// The options that every operator is developed with, as they are given on the command line;
  /// without those above, but for target and chip.
  std::vector<std::string> words;
};

void runDevelopAll(const DevelopAllOptions &options, Session &session);

} // namespace nereid::cli
