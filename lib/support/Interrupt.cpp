// SPDX-License-Identifier: Apache-2.0
#include "lib/support/Interrupt.h"

#include <csignal>
#include <string_view>

#include <sys/time.h>
#include <unistd.h>

namespace nereid {

namespace {

constexpr std::string_view cutShort =
    "interrupted: what is done is kept; run the same command again to go on\n";

volatile std::sig_atomic_t received = 0;
itimerval grace{};

/// Only what is safe in a signal handler, from here on.
void endNow(int) {
  const ssize_t ignored = ::write(STDERR_FILENO, cutShort.data(), cutShort.size());
  (void)ignored;
  ::_exit(interruptStatus());
}

void onInterrupt(int signal) {
  if (received != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  received = signal;
  ::setitimer(ITIMER_REAL, &grace, nullptr);
}

} // namespace

void watchInterrupt(std::chrono::milliseconds time) {
  grace.it_value.tv_sec = time.count() / 1000;
  grace.it_value.tv_usec = time.count() % 1000 * 1000;
  std::signal(SIGALRM, endNow);
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
}

bool isInterrupted() { return received != 0; }

int interruptStatus() { return 128 + (received != 0 ? received : SIGINT); }

} // namespace nereid
