// SPDX-License-Identifier: Apache-2.0
#include "lib/support/Interrupt.h"

#include <csignal>

namespace nereid {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void onInterrupt(int signal) {
  if (interrupted != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  interrupted = 1;
}

} // namespace

void watchInterrupt() {
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
}

bool isInterrupted() { return interrupted != 0; }

} // namespace nereid
