// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/process/Progress.h"
#include "lib/cli/process/StandardStreams.h"

#include <fmt/format.h>

#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace nereid::cli {

Progress::Progress(bool silent) : isSilent(silent), isTerminal(isatty(STDERR_FILENO) != 0) {}

void Progress::show(const std::string &line) {
  if (isSilent) {
    return;
  }
  if (!isTerminal) {
    // Where both streams go to one place, no line of results is cut in two.
    std::fflush(stdout);
    printError(fmt::format("{}\n", line));
    return;
  }
  winsize size{};
  size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
                       ? static_cast<size_t>(size.ws_col) - 1
                       : 79;
  printError(fmt::format("\r\033[K{}", line.substr(0, columns)));
  hasLine = true;
}

void Progress::showPassing(const std::string &line) {
  if (isTerminal) {
    show(line);
  }
}

void Progress::end() {
  if (hasLine) {
    printError("\r\033[K");
    hasLine = false;
  }
}

} // namespace nereid::cli
