// SPDX-License-Identifier: Apache-2.0
// The stages of one operator as a command runs them: opened from a definition or a folder, one
// after another, printed, and reported to the process that asked for them.
#pragma once

#include "lib/cli/Command.h"
#include "lib/develop/Develop.h"

#include <string>
#include <vector>

namespace nereid::cli {

struct StageOptions {
  std::string input, out, against, start, mode, language;
  std::vector<std::string> dtypes;
  bool requiresTarget = false, isBackward = false, isAll = false;
  double secondsPerOperator = 3600; ///< with isAll
  std::string reportTo;             ///< of a process for another one: see process/ChildProcess.h
  std::vector<std::string> by;      ///< inputs to differentiate by
  develop::DevelopOptions develop;
};

/// As opposed to an operator's folder.
bool isDefinition(const std::string &path);

/// Where a definition's files go.
std::string folderOf(const StageOptions &options);

/// Takes over what is given as words: types, start, language, mode. E0013, E0605.
Status readWords(StageOptions &options);

enum class Until { Generate, Verify, Bench, Optimize };

void runStages(StageOptions &options, Until until, Session &session);

} // namespace nereid::cli
