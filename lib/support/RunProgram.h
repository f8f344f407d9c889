// SPDX-License-Identifier: Apache-2.0
// Runs another program of this machine, such as a linker, and keeps what it prints.
#pragma once

#include <string>
#include <vector>

namespace nereid {

/// The status that it ends with, 127 when there is no such program, 1 after a signal. words: the
/// program, looked up in PATH, and its arguments. What it prints goes to `logFile`.
int runProgram(const std::vector<std::string> &words, const std::string &logFile);

} // namespace nereid
