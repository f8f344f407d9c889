// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/process/StandardStreams.h"

#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace nereid::cli {

void prepareStandardStreams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) {
      continue;
    }
    // The lowest number that is free is this one. Results that are printed there are an error, as
    // they would be with the stream closed; messages are not.
    const int flags = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", flags) < 0) {
      return;
    }
  }
}

void printError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

} // namespace nereid::cli
