// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/OptionUse.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::cli {

std::optional<Diagnostic> unusedOption(const CLI::App &command, const std::string &input,
                                       const std::vector<std::string> &used) {
  for (const CLI::Option *option : command.get_options()) {
    // Options between our own processes are in no group, and have no name to be shown.
    const bool isHidden = option->get_group().empty() && !option->get_lnames().empty();
    const std::string name = isHidden ? "--" + option->get_lnames().front() : option->get_name();
    const bool isOfEvery = option->get_positional() || name == "--help" || name == "-h,--help";
    if (option->count() == 0 || isOfEvery ||
        std::find(used.begin(), used.end(), name) != used.end()) {
      continue;
    }
    return makeError("E0013", fmt::format("'{}' of nereid {} means nothing for {}", name,
                                          command.get_name(), input))
        .withHelp(used.empty() ? "leave it out"
                               : fmt::format("it takes {}", fmt::join(used, ", ")));
  }
  return std::nullopt;
}

} // namespace nereid::cli
