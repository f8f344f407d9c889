// SPDX-License-Identifier: Apache-2.0
// Progress of long work on standard error: one line that rewrites itself on a terminal, plain lines
// elsewhere.
#pragma once

#include <string>

namespace nereid::cli {

class Progress {
public:
  explicit Progress(bool isSilent);
  ~Progress() { end(); }
  void show(const std::string &line);
  /// Only where the next line takes its place: on a terminal.
  void showPassing(const std::string &line);
  /// Clears the terminal's line, so that a table can follow.
  void end();

private:
  bool isSilent, isTerminal, hasLine = false;
};

} // namespace nereid::cli
