// SPDX-License-Identifier: Apache-2.0
// A command whose input may be of several kinds takes options that mean something for one kind
// only. An option that is given is used, or refused here: each kind lists what it reads, so that
// one which no kind lists can never be given.
#pragma once

#include "lib/support/Diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nereid::cli {

/// E0013 for the first option on the command line that is not among `used`; `input` says what was
/// given, "a folder of kernels". Nothing when all are used.
std::optional<Diagnostic> unusedOption(const CLI::App &command, const std::string &input,
                                       const std::vector<std::string> &used);

} // namespace nereid::cli
