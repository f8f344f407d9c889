// SPDX-License-Identifier: Apache-2.0
// This program once more, in a process of its own: for work that may end the process it is done in,
// or take a device from it. What it prints goes where ours goes; what it found comes back as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::cli {

/// What takes the name of a file behind it, and is no option for users.
inline constexpr const char *reportOption = "--report-to";

struct ChildResult {
  int status = 0;   ///< it ended with; 1 after a signal
  std::string fate; ///< "" = it ended by itself, else what ended it
  std::optional<nlohmann::ordered_json> report = {};
  bool isOutOfTime = false; ///< it was ended for that
};

struct ChildOptions {
  std::string log = {};                      ///< file for what it prints; "" = our own streams
  double mostSeconds = 0;                    ///< it is ended then; 0 = never
  std::function<void()> whileItRuns = [] {}; ///< called some times a second
};

/// words: a command line without the program's name, to which the option for the report is added.
ChildResult runChild(std::vector<std::string> words);
/// The same, looked after: it is alone in its process group, and is told when the user interrupts
/// this process (support/Interrupt.h) or its time is over; if it does not end then, it is ended
/// with all that it has started.
ChildResult runChild(std::vector<std::string> words, const ChildOptions &options);

/// The child's side. Its work is nobody's once the process that started it is gone: it ends then.
void endWithParent();
/// False when the file cannot be written.
bool leaveReport(const std::string &path, const nlohmann::ordered_json &report);

} // namespace nereid::cli
